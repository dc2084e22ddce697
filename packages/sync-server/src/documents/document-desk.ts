import { RockpoolError, type ErrorData } from '@rockpool/shared';
import { rememberDocumentText } from '@rockpool/shared/document';
import type { DocumentPool } from './document-pool.ts';
import { workOnDocument, type CarriedOver, type DocumentWork, type WorkedDocument } from './document-work.ts';

/**
 * Work on this many bytes or more goes to another thread. It then costs this thread less than half as much as doing it
 * here, including the repeated transaction. Measured in decision 0040.
 */
const MIN_BYTES_AWAY = 128 * 1024;

/**
 * The cost of one byte of an edit in bytes of a document: each byte of an edit may be a structure that needs a search.
 */
const EDIT_WEIGHT = 4;

/** Thrown inside a changeset that can be decided once a worker has done this work. */
export class DocumentWorkNeeded extends Error {
  readonly work: DocumentWork;

  constructor(work: DocumentWork) {
    super('work on a document must be done in another thread first');
    this.work = work;
  }
}

type Done =
  | { readonly work: DocumentWork; readonly result: WorkedDocument }
  | { readonly work: DocumentWork; readonly error: ErrorData };

/**
 * Runs the work on the documents of one database. Light work runs at once. Heavy work waits for a worker, and a
 * transaction cannot wait: it commits before the changeset that needs the work (`DocumentWorkNeeded`), `prepare` runs
 * the work, and another transaction continues with its result. The order of changesets does not change.
 */
export class DocumentDesk {
  /** Null if all work runs on this thread. */
  private pool: Pick<DocumentPool, 'run'> | null = null;
  private minBytesAway = MIN_BYTES_AWAY;
  private done: Done[] = [];
  /** The entries of `done` that the last attempt used. */
  private readonly used = new Set<Done>();
  /** Results by their state. */
  private readonly results = new WeakMap<Uint8Array, WorkedDocument>();

  /** Sends work of `minBytesAway` or more to the pool. */
  use(pool: Pick<DocumentPool, 'run'>, minBytesAway: number = MIN_BYTES_AWAY): void {
    this.pool = pool;
    this.minBytesAway = minBytesAway;
  }

  /** Throws `document-invalid`, `document-gap`, `document-too-costly`, and `DocumentWorkNeeded` for work to prepare. */
  work(work: DocumentWork): WorkedDocument {
    const result = this.result(work);
    if (result.replaced !== null || result.compactAbove !== null) this.results.set(result.state, result);
    return result;
  }

  /** The document that a state from `work` replaces, with the edit included; null if it replaces none. */
  replaced(state: Uint8Array): Uint8Array | null {
    return this.results.get(state)?.replaced ?? null;
  }

  /** The form of a late edit in a state from `work`; null without a late edit. */
  carried(state: Uint8Array): CarriedOver | null {
    return this.results.get(state)?.carried ?? null;
  }

  /** The size in bytes at which to retry a compaction that `work` gave up; null if it gave up none. */
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
   * Runs the work in a worker. `work` returns its result or error until `clear`, or until an attempt did not need it
   * because other instances have written meanwhile. Rejects if no worker can be started.
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

  /** Drops prepared results whose changeset is decided or has failed. */
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
