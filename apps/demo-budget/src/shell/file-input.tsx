import type { ReactNode } from 'react';

export interface FileInputProps {
  /** For screen readers. */
  readonly label: string;
  /** File extensions and media types, as in the HTML attribute of the same name. */
  readonly accept: string;
  readonly onFile: (file: File) => void;
}

/** Chooses one file. The same file can be chosen again, because it may have been corrected meanwhile. */
export function FileInput({ label, accept, onFile }: FileInputProps): ReactNode {
  return (
    <input
      type="file"
      accept={accept}
      aria-label={label}
      onChange={(event) => {
        const file = event.target.files?.[0];
        if (file !== undefined) onFile(file);
        // Otherwise choosing it again would fire no change event.
        event.target.value = '';
      }}
    />
  );
}
