import { toRockpoolError } from '@rockpool/shared';
import type { LiveDocument } from '../interface/live-document.ts';

type OpenDocument = Pick<LiveDocument, 'current' | 'saved'>;

/** The documents of a branch that are open in this tab. */
export class OpenDocuments {
  private readonly documents = new Set<OpenDocument>();

  get count(): number {
    return this.documents.size;
  }

  /** Returns the document once it is open. */
  async note<Value>(opening: Promise<LiveDocument<Value>>): Promise<LiveDocument<Value>> {
    const document = await opening;
    this.forgetClosed();
    this.documents.add(document);
    return document;
  }

  /** Writes what was typed during earlier writes, which would miss the merge. Rejects like `LiveDocument.saved`. */
  async save(): Promise<void> {
    this.forgetClosed();
    const saved = [...this.documents].map((document) =>
      document.saved().catch((thrown: unknown) => {
        // What was typed after the row was deleted cannot be merged.
        if (toRockpoolError(thrown).code !== 'document-gone') throw thrown;
      }),
    );
    await Promise.all(saved);
  }

  private forgetClosed(): void {
    for (const document of this.documents) if (document.current.state === 'closed') this.documents.delete(document);
  }
}
