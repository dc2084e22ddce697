import type { RockpoolError } from '@rockpool/shared';
import type { Remote } from 'comlink';
import type { TransactionAsk } from '../rpc/transaction-ask.ts';
import type { WorkerApi } from '../rpc/worker-api.ts';
import type { WorkerConnection } from '../tab/worker-connection.ts';

/**
 * Holds back this tab's writes to a branch while the tab merges the branch. Without it, they would wait for the
 * transaction that locks the branch, commit after it, and be deleted with the file. It stands before the worker, so
 * that it covers every write: statements, transactions, undo and open documents.
 */
export class WriteGate {
  private closed: PromiseWithResolvers<void> | null = null;
  private transactionId = '';

  /** Holds back the writes that begin from now on, except for the transaction with this id. */
  close(transactionId: string): void {
    this.transactionId = transactionId;
    this.closed = Promise.withResolvers();
    this.closed.promise.catch(() => undefined); // Prevents an unhandled rejection while no write waits.
  }

  /** Lets the waiting and later writes run. */
  open(): void {
    this.closed?.resolve();
    this.closed = null;
  }

  /** Fails the waiting and later writes with this error. */
  end(error: RockpoolError): void {
    this.closed?.reject(error);
  }

  /** The connection through this gate. */
  around(connection: WorkerConnection): WorkerConnection {
    return {
      call: (run) => connection.call((worker) => run(this.closed === null ? worker : this.guarded(worker))),
      end: (error) => connection.end(error),
    };
  }

  private guarded(worker: Remote<WorkerApi>): Remote<WorkerApi> {
    const write: WorkerApi['write'] = async (...given) => {
      await this.passed();
      return worker.write(...given);
    };
    const transact = async (id: string, ask: TransactionAsk): ReturnType<WorkerApi['transact']> => {
      if (ask.kind === 'begin' && id !== this.transactionId) await this.passed();
      return worker.transact(id, ask);
    };
    const methods: Record<string | symbol, unknown> = { write, transact };
    return new Proxy(worker, { get: (target, name) => methods[name] ?? Reflect.get(target, name) });
  }

  private async passed(): Promise<void> {
    while (this.closed !== null) await this.closed.promise;
  }
}
