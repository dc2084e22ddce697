import { Component, type ReactNode } from 'react';
import { errorSentence } from './error-sentence.ts';

export interface PageBoundaryProps {
  /** The name of the page. When it changes, the boundary tries to render again. */
  readonly page: string;
  readonly children: ReactNode;
}

interface State {
  readonly page: string;
  readonly failed: { readonly error: unknown } | null;
}

/**
 * Shows an error in place of a page that cannot be rendered. The menu and all other pages stay usable. Other devices
 * may run a different version of the app, or store values that no form accepts, so no page can rule out such an error.
 */
export class PageBoundary extends Component<PageBoundaryProps, State> {
  override state: State = { page: this.props.page, failed: null };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { failed: { error } };
  }

  static getDerivedStateFromProps({ page }: PageBoundaryProps, state: State): State | null {
    return page === state.page ? null : { page, failed: null };
  }

  override render(): ReactNode {
    const { failed } = this.state;
    if (failed === null) return this.props.children;
    return (
      <section className="card form" aria-label="Error">
        <h1>This page cannot be shown</h1>
        <p role="alert">{errorSentence(failed.error)}</p>
        <p>
          The other pages in the menu still work. If this page fails again, look there for values that are not valid.
        </p>
        <div className="buttons">
          <button type="button" className="primary" onClick={() => this.setState({ failed: null })}>
            Try again
          </button>
          <button type="button" onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      </section>
    );
  }
}
