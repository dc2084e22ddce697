import type { ReactNode } from 'react';

export interface FileInputProps {
  /** For screen readers. */
  readonly label: string;
  /** Endings and media types, as the attribute of the same name has them. */
  readonly accept: string;
  readonly onFile: (file: File) => void;
}

/** Chooses one file; the same one again too, which may have been corrected meanwhile. */
export function FileInput({ label, accept, onFile }: FileInputProps): ReactNode {
  return (
    <input
      type="file"
      accept={accept}
      aria-label={label}
      onChange={(event) => {
        const file = event.target.files?.[0];
        if (file !== undefined) onFile(file);
        // Else choosing it again would be no change.
        event.target.value = '';
      }}
    />
  );
}
