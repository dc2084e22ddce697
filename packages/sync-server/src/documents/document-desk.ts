import { RockpoolError, type ErrorData } from '@rockpool/shared';
import { rememberDocumentText } from '@rockpool/shared/document';
import type { DocumentPool } from './document-pool.ts';
import { workOnDocument, type CarriedOver, type DocumentWork, type WorkedDocument } from './document-work.ts';

/**
 * From so many bytes on, work goes to another thread: there it costs this one less than half of what it takes, the
 * transaction that is begun anew included. Measured (0040).
 */
const MIN_BYTES_AWAY = 128 * 1024;

/** What an edit may cost beyond its own size: each byte may be a structure that takes a search. */
const EDIT_WEIGHT = 4;

/** Thrown in the middle of a changeset: it is to be decided once a worker has done this. */
export class DocumentWorkNeeded extends Error {
  readonly work: DocumentWork;

  constructor(work: DocumentWork) {
    super('work on a document is to be done in another thread first');
    this.work = work;
  }
}

type Done =
  | { readonly work: DocumentWork; readonly result: WorkedDocument }
  | { readonly work: DocumentWork; readonly error: ErrorData };

/**
 * Work on the documents of one database. Light work is done at once. Heavy work has to wait for a worker, and a
 * transaction cannot wait: it ends before the changeset that needs it (`DocumentWorkNeeded`), the work is prepared, and
 * another goes on from there, with the result at hand. The order of changesets stays.
 */
export class DocumentDesk {
  /** Null: everything is done in this thread. */
  private pool: Pick<DocumentPool, 'run'> | null = null;
  private minBytesAway = MIN_BYTES_AWAY;
  private done: Done[] = [];
  /** Those of `done` that the last attempt could use. */
  private readonly used = new Set<Done>();
  /** By the state that came of it. */
  private readonly results = new WeakMap<Uint8Array, WorkedDocument>();

  /** `minBytesAway`: work of this weight or more goes to the pool. */
  use(pool: Pick<DocumentPool, 'run'>, minBytesAway: number = MIN_BYTES_AWAY): void {
    this.pool = pool;
    this.minBytesAway = minBytesAway;
  }

  /** Throws `document-invalid`, `document-gap`, `document-too-costly`, and DocumentWorkNeeded. */
  work(work: DocumentWork): WorkedDocument {
    const result = this.result(work);
    if (result.replaced !== null || result.compactAbove !== null) this.results.set(result.state, result);
    return result;
  }

  /**
   * The document that a state of `work` takes the place of, with the edit that it is made of; null where it takes no
   * other's.
   */
  replaced(state: Uint8Array): Uint8Array | null {
    return this.results.get(state)?.replaced ?? null;
  }

  /** What a late edit became in a state of `work`; null where there was none. */
  carried(state: Uint8Array): CarriedOver | null {
    return this.results.get(state)?.carried ?? null;
  }

  /**
   * The size in bytes at which compaction of a state of `work` is to be tried again; null where it was not tried in
   * vain.
   */
  compactAbove(state: Uint8Array): number | null {
    return this.results.get(state)?.compactAbove ?? null;
  }

  private result(work: DocumentWork): WorkedDocument {
    if (this.pool === null || weightOf(work) < this.minBytesAway) return workOnDocument(work);
    const done = this.done.find((other) => isSameWork(other.work, work));
    if (done === undefined) throw new DocumentWorkNeeded(work);
    this.used.add(done);
    if ('error' in done) throw RockpoolError.fromData(done.error);
    return done.result;
  }

  /**
   * Has a worker do it. What comes of it, an error too, is at hand until `clear`, or until an attempt had no use for
   * it, since other instances have written meanwhile. Rejects where no worker can be had at all.
   */
  async prepare(work: DocumentWork): Promise<void> {
    if (this.pool === null) return;
    this.done = this.done.filter((done) => this.used.has(done));
    this.used.clear();
    try {
      const result = await this.pool.run(work);
      rememberDocumentText(result.state, result.text);
      this.done.push({ work, result });
    } catch (error) {
      if (!(error instanceof RockpoolError)) throw error;
      this.done.push({ work, error: error.toData() });
    }
  }

  /** The changeset that all this was prepared for is decided, or cannot be. */
  clear(): void {
    this.done = [];
    this.used.clear();
  }
}

function weightOf(work: DocumentWork): number {
  if (work.kind === 'expand') return work.content.length;
  return work.document.length + (work.replaced?.length ?? 0) + EDIT_WEIGHT * work.edit.length;
}

function isSameWork(a: DocumentWork, b: DocumentWork): boolean {
  if (a.rule !== b.rule) return false;
  if (a.kind === 'expand') return b.kind === 'expand' && isSame(a.content, b.content);
  return (
    b.kind === 'merge' &&
    a.site === b.site &&
    a.compactAbove === b.compactAbove &&
    isSame(a.edit, b.edit) &&
    isSame(a.document, b.document) &&
    isSame(a.replaced, b.replaced)
  );
}

function isSame(a: Uint8Array | null, b: Uint8Array | null): boolean {
  return a === null || b === null ? a === b : Buffer.compare(a, b) === 0;
}
