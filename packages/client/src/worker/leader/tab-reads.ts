import type { RockpoolError } from '@rockpool/shared';
import type { Reads } from '../../rpc/reads.ts';
import { ReadInterrupted } from './opened-database.ts';

/** A tab's reads across role changes: a read waits while there is no source, and is repeated if it was interrupted. */
export class TabReads implements Reads {
  private source = pendingSource();
  private isPaused = true;
  private hasFailed = false;

  /** Resolves when there is a source to read from; rejects if there will be none. */
  whenReadable(): Promise<Reads> {
    return this.source.promise;
  }

  readFrom(reads: Reads): void {
    if (this.hasFailed) return;
    if (!this.isPaused) this.source = pendingSource();
    this.isPaused = false;
    this.source.resolve(reads);
  }

  /** Makes reads wait for the next `readFrom`. */
  pause(): void {
    if (this.hasFailed || this.isPaused) return;
    this.isPaused = true;
    this.source = pendingSource();
  }

  /** Fails all waiting and future reads with this error. */
  fail(error: RockpoolError): void {
    this.pause();
    this.hasFailed = true;
    this.source.reject(error);
  }

  query: Reads['query'] = (statement) => this.read((reads) => reads.query(statement));
  queryAll: Reads['queryAll'] = (statements) => this.read((reads) => reads.queryAll(statements));
  dependencies: Reads['dependencies'] = (statement) => this.read((reads) => reads.dependencies(statement));
  listRejected: Reads['listRejected'] = () => this.read((reads) => reads.listRejected());
  rowSyncState: Reads['rowSyncState'] = (tableName, key) => this.read((reads) => reads.rowSyncState(tableName, key));
  writeStates: Reads['writeStates'] = (requestIds) => this.read((reads) => reads.writeStates(requestIds));
  backup: Reads['backup'] = () => this.read((reads) => reads.backup());

  private async read<T>(run: (reads: Reads) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await run(await this.source.promise);
      } catch (thrown) {
        if (!(thrown instanceof ReadInterrupted)) throw thrown;
      }
    }
  }
}

function pendingSource(): PromiseWithResolvers<Reads> {
  const pending = Promise.withResolvers<Reads>();
  pending.promise.catch(() => undefined); // Prevents an unhandled rejection if no read is waiting.
  return pending;
}
