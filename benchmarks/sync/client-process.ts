// node client-process.ts ENGINE: one or many clients of one engine in a process of its own, driven by messages.
import type { Engine, Receiver, SyncClient } from './engine.ts';
import { ENGINES, type EngineName } from './engines.ts';
import { ledgerRow, ledgerRows } from './rows.ts';

/** `fresh`: without data. `receiver`: see Receiver. */
export type ClientKind = 'client' | 'fresh' | 'receiver';

const { engine } = await ENGINES[process.argv[2] as EngineName]();
const clients: SyncClient[] = [];
const receivers: Receiver[] = [];
/** For each client or receiver, when it saw each row, on the clock that all processes of a machine share. */
const seenMs: Map<string, number>[] = [];
/** Rows that a client writes in a batch before it yields to the socket. */
const BURST = 200;
const POLL_MS = 5;

const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export const commands = {
  async create(port: number, name: string, count: number, kind: ClientKind): Promise<void> {
    for (let i = 0; i < count; i++) {
      const receiver = kind === 'receiver' ? await receiverOf(engine, port) : await open(kind, port, `${name}${i}`);
      const seen = new Map<string, number>();
      receiver.onRow((id) => {
        if (!seen.has(id)) seen.set(id, nowMs());
      });
      receivers.push(receiver);
      seenMs.push(seen);
    }
  },
  async connect(): Promise<number> {
    const startMs = nowMs();
    for (const receiver of receivers) await receiver.connect();
    return startMs;
  },
  async disconnect(): Promise<void> {
    for (const client of clients) await client.disconnect();
  },
  /** Writes each row in its own transaction. Returns the duration in milliseconds. */
  async insertEach(from: number, count: number): Promise<number> {
    const startMs = nowMs();
    for (let i = 0; i < count; i++) {
      await first().insert(ledgerRow(from + i));
      if (i % BURST === BURST - 1) await turn();
    }
    return nowMs() - startMs;
  },
  async insertMany(from: number, count: number): Promise<void> {
    await first().insertMany(ledgerRows(from, count));
  },
  /** Writes one row every `gapMs`. Returns the time of each write. */
  async insertPaced(from: number, count: number, gapMs: number): Promise<(readonly [id: string, atMs: number])[]> {
    const written: (readonly [string, number])[] = [];
    for (let i = 0; i < count; i++) {
      const row = ledgerRow(from + i);
      const atMs = nowMs();
      written.push([row.id, atMs]);
      await first().insert(row);
      await sleep(Math.max(0, gapMs - (nowMs() - atMs)));
    }
    return written;
  },
  /** The time when every client had at least this many rows; rejects on timeout. */
  async waitForCount(count: number, timeoutMs: number): Promise<number> {
    const endMs = nowMs() + timeoutMs;
    while (!receivers.every((receiver) => receiver.count() >= count)) {
      if (nowMs() > endMs)
        throw new Error(
          `the slowest client has ${Math.min(...receivers.map((receiver) => receiver.count()))} of ${count} rows after ${timeoutMs / 1000} s`,
        );
      await sleep(POLL_MS);
    }
    return nowMs();
  },
  async waitUntilSent(timeoutMs: number): Promise<void> {
    const endMs = nowMs() + timeoutMs;
    while (!first().isSent()) {
      if (nowMs() > endMs) throw new Error(`the client had unsent writes after ${timeoutMs / 1000} s`);
      await sleep(POLL_MS);
    }
  },
  /** How long each row took to reach each client; Infinity for a row that never arrived. */
  async latencies(written: readonly (readonly [id: string, atMs: number])[]): Promise<number[]> {
    return seenMs.flatMap((seen) => written.map(([id, atMs]) => (seen.get(id) ?? Infinity) - atMs));
  },
  async close(): Promise<void> {
    for (const receiver of receivers) await receiver.close();
  },
};

export type Commands = typeof commands;

export interface Command {
  readonly id: number;
  readonly name: keyof Commands;
  readonly args: readonly unknown[];
}

async function open(kind: ClientKind, port: number, name: string): Promise<SyncClient> {
  const client = await (kind === 'fresh' && engine.createFreshClient !== undefined
    ? engine.createFreshClient(port, name)
    : engine.createClient(port, name));
  clients.push(client);
  return client;
}

function receiverOf({ createReceiver }: Engine, port: number): Promise<Receiver> {
  if (createReceiver === undefined) throw new Error('the engine has no receivers');
  return createReceiver(port);
}

function first(): SyncClient {
  const [client] = clients;
  if (client === undefined) throw new Error('no client is open in this process');
  return client;
}

process.on('message', (command: Command) => void answer(command));
process.on('disconnect', () => process.exit(0));

async function answer({ id, name, args }: Command): Promise<void> {
  try {
    process.send?.({ id, value: await (commands[name] as (...rest: readonly unknown[]) => Promise<unknown>)(...args) });
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? error.message : String(error) });
  }
}
process.send?.('ready');
