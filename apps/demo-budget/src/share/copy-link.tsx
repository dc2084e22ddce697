import { useState, type ReactNode } from 'react';

export interface CopyLinkProps {
  readonly label: string;
  readonly link: string;
  readonly hint: string;
}

/** A link to send to another person, with a button that copies it. */
export function CopyLink({ label, link, hint }: CopyLinkProps): ReactNode {
  const [copied, setCopied] = useState<'no' | 'yes' | 'failed'>('no');
  const copy = (): void => {
    // Undefined on pages loaded without encryption from another machine.
    const clipboard = navigator.clipboard as Clipboard | undefined;
    if (clipboard === undefined) return setCopied('failed');
    clipboard.writeText(link).then(
      () => setCopied('yes'),
      () => setCopied('failed'),
    );
  };
  return (
    <>
      <label>
        {label}
        <input readOnly value={link} onFocus={(event) => event.currentTarget.select()} />
      </label>
      <div className="buttons">
        <button type="button" onClick={copy}>
          Copy link
        </button>
        <span role="status" className="hint">
          {copied === 'no' && hint}
          {copied === 'yes' && 'Copied.'}
          {copied === 'failed' && 'The browser blocked copying. Select the link and copy it.'}
        </span>
      </div>
    </>
  );
}
