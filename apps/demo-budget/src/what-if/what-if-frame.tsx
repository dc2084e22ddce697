import type { Branch } from '@rockpool/client';
import { RockpoolProvider, useClient } from '@rockpool/client/react';
import { Component, useEffect, useMemo, useState, type ReactNode } from 'react';
import type { Budget } from '../budget/budget.ts';
import { useToday, ViewProvider } from '../budget/view.ts';
import { errorSentence } from '../shell/error-sentence.ts';
import { hashOf } from '../shell/navigation.ts';
import { countWrites } from '../shell/own-writes.ts';
import { ViewBanner } from '../shell/view-banner.tsx';
import { whatIfName, WhatIfProvider, type Ending } from './what-if.ts';

export interface WhatIfFrameProps {
  readonly budget: Budget;
  /** The pages, which show the what-if. */
  readonly children: ReactNode;
}

type Opened = { readonly branch: Branch } | { readonly error: unknown } | null;

/** Shows pages of the what-if, which they can change without changing the budget. */
export default function WhatIfFrame({ budget, children }: WhatIfFrameProps): ReactNode {
  const client = useClient();
  const [opened, setOpened] = useState<Opened>(null);
  useEffect(() => {
    let isShown = true;
    let branch: Branch | null = null;
    client.openBranch(whatIfName).then(
      (found) => {
        branch = countWrites(found);
        if (isShown) setOpened({ branch });
        else branch.close().catch(() => undefined);
      },
      (error: unknown) => isShown && setOpened({ error }),
    );
    return () => {
      isShown = false;
      // Ending the what-if closes the branch too.
      branch?.close().catch(() => undefined);
    };
  }, [client]);
  const branch = opened !== null && 'branch' in opened ? opened.branch : null;
  // While this tab ends the what-if, its live queries may already throw.
  const [ending, setEnding] = useState<Ending>(null);
  const whatIf = useMemo(
    () => (branch === null ? null : { branch, today: client, onEnding: setEnding }),
    [branch, client],
  );
  const day = useToday();
  const shown = useMemo(() => ({ view: 'what-if', day }) as const, [day]);
  const sorry = (error: unknown): ReactNode => (
    <section className="card form" aria-label="What if">
      <h1>What if</h1>
      <p role="alert">{errorSentence(error)}</p>
      <p>
        <a href={hashOf(budget, { page: 'envelopes', view: 'today' })}>Back to today</a>
      </p>
    </section>
  );
  if (opened !== null && 'error' in opened) return sorry(opened.error);
  if (branch === null || whatIf === null) return <p role="status">Opening the what-if …</p>;
  return (
    <RockpoolProvider client={branch}>
      <ViewProvider value={shown}>
        <WhatIfProvider value={whatIf}>
          <ViewBanner kind="what-if">
            <strong>What if.</strong> Changes stay on this device until you apply them.
            <a href={hashOf(budget, { page: 'what-if', view: 'what-if' })}>Compare with today</a>
            <a href={hashOf(budget, { page: 'envelopes', view: 'today' })}>Back to today</a>
          </ViewBanner>
          <Ended
            instead={(error) =>
              ending === 'busy' ? (
                <p role="status">Ending the what-if …</p>
              ) : (
                sorry(ending === null ? error : ending.error)
              )
            }
          >
            {children}
          </Ended>
        </WhatIfProvider>
      </ViewProvider>
    </RockpoolProvider>
  );
}

interface EndedProps {
  readonly instead: (error: unknown) => ReactNode;
  readonly children: ReactNode;
}

/** The live queries of a what-if that another tab has ended throw. */
class Ended extends Component<EndedProps, { readonly error: unknown }> {
  static getDerivedStateFromError(error: unknown): { readonly error: unknown } {
    return { error };
  }

  override state: { readonly error: unknown } = { error: null };

  override render(): ReactNode {
    return this.state.error === null ? this.props.children : this.props.instead(this.state.error);
  }
}
