import type { ReactNode } from 'react';

export interface FormEndProps {
  /** The validation problem, as a sentence. Null if there is none. */
  readonly problem: string | null;
  /** The label of the submit button. */
  readonly submit: string;
  readonly onCancel: () => void;
  /** Further actions, such as deleting. */
  readonly children?: ReactNode;
}

/** The end of a form: its problem, the submit and cancel buttons, and further actions. */
export function FormEnd({ problem, submit, onCancel, children }: FormEndProps): ReactNode {
  return (
    <>
      {problem !== null && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <div className="buttons">
        <button type="submit" className="primary">
          {submit}
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        {children}
      </div>
    </>
  );
}
