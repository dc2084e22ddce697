import { workOnDocument, type DocumentWork, type WorkedDocument } from '#sync-server/documents/document-work.ts';
import type { Random } from './random.ts';

const WORK_MS = [0, 2, 2, 10, 250] as const;

/** The pool of threads that work on documents (document-pool.ts), in virtual time. */
export class DocumentThreads {
  private readonly random: Random;
  private readonly onWork: () => void;

  constructor(random: Random, onWork: () => void) {
    this.random = random;
    this.onWork = onWork;
  }

  async run(work: DocumentWork): Promise<WorkedDocument> {
    this.onWork();
    const copy = structuredClone(work);
    await new Promise((resolve) => void setTimeout(resolve, this.random.pick(WORK_MS)));
    return structuredClone(workOnDocument(copy));
  }
}
