import type { ReactNode } from 'react';

export interface FormEndProps {
  /** What has to be put right first, as a sentence. Null: nothing. */
  readonly problem: string | null;
  /** The word on the button that sends the form. */
  readonly submit: string;
  readonly onCancel: () => void;
  /** What else can be done, such as deleting. */
  readonly children?: ReactNode;
}

/** How a form ends: what is wrong with it, the button that sends it, the way out, and what else there is. */
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
