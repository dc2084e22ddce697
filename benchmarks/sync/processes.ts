import { fork, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClientKind, Command, Commands } from './client-process.ts';
import type { SyncSubject } from './engines.ts';

const START_TIMEOUT_MS = 60_000;
const CALL_TIMEOUT_MS = 240_000;
/** Linux counts processor time in hundredths of a second. */
const MS_PER_TICK = 10;

export interface ServerProcess {
  readonly port: number;
  readonly pid: number;
  /** Ends the process and removes its data. */
  stop(): Promise<void>;
}

export async function startServer(subject: SyncSubject): Promise<ServerProcess> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'rockpool-bench-sync-'));
  const child = start('server-process.ts', [subject.engine, String(port), folder]);
  await ready(child);
  return {
    port,
    pid: child.pid ?? 0,
    async stop() {
      await end(child);
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The commands of client-process.ts, callable from this process. */
export type ClientProcess = {
  readonly [K in keyof Commands]: (...args: Parameters<Commands[K]>) => ReturnType<Commands[K]>;
} & { end(): Promise<void> };

export async function startClients(
  subject: SyncSubject,
  port: number,
  name: string,
  count = 1,
  kind: ClientKind = 'client',
): Promise<ClientProcess> {
  const child = start('client-process.ts', [subject.engine]);
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let lastId = 0;
  child.on(
    'message',
    (answer: 'ready' | { readonly id: number; readonly value?: unknown; readonly error?: string }) => {
      if (answer === 'ready') return;
      const caller = waiting.get(answer.id);
      waiting.delete(answer.id);
      if (answer.error === undefined) caller?.resolve(answer.value);
      else caller?.reject(new Error(answer.error));
    },
  );
  child.once('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('the process of the clients ended before it answered'));
  });
  await ready(child);
  const call = (command: keyof Commands, args: readonly unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = ++lastId;
      const timer = setTimeout(
        () => reject(new Error(`${command} took longer than ${CALL_TIMEOUT_MS / 1000} s`)),
        CALL_TIMEOUT_MS,
      );
      const settled =
        <T>(settle: (value: T) => void) =>
        (value: T): void => {
          clearTimeout(timer);
          settle(value);
        };
      waiting.set(id, { resolve: settled(resolve), reject: settled(reject) });
      child.send({ id, name: command, args } satisfies Command);
    });
  const clients = new Proxy({} as ClientProcess, {
    get(_target, command: string) {
      // Without this, `await` would treat the object as a promise.
      if (command === 'then') return undefined;
      if (command === 'end') return () => end(child);
      return (...args: readonly unknown[]) => call(command as keyof Commands, args);
    },
  });
  await clients.create(port, name, count, kind);
  return clients;
}

/** Resident memory in bytes; undefined if the system does not report it. */
export function residentBytes(pid: number): number | undefined {
  const file = `/proc/${pid}/status`;
  const kilobytes = existsSync(file) ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(file, 'utf8'))?.[1] : undefined;
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/** Processor time of a process so far, in milliseconds; undefined if the system does not report it. */
export function processorMs(pid: number): number | undefined {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return undefined;
  // The name, in brackets, may contain spaces. Of the fields after it, the 12th and 13th are user and system time.
  const fields = readFileSync(file, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

function start(script: string, args: readonly string[]): ChildProcess {
  return fork(join(import.meta.dirname, script), args, {
    execArgv: ['--no-warnings'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`a benchmark process did not start within ${START_TIMEOUT_MS / 1000} s`)),
      START_TIMEOUT_MS,
    );
    child.once('message', () => {
      clearTimeout(timer);
      resolve();
    });
    child.once('exit', (code) => reject(new Error(`a benchmark process ended with code ${code} before it was ready`)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
