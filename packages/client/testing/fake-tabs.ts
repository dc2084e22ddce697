import { RockpoolError } from '@rockpool/shared';
import type { ChannelMessage, LeaderStatus } from '../src/worker/leader/channel-message.ts';
import type { Locks } from '../src/worker/leader/election.ts';
import type { WritableDatabase } from '../src/worker/leader/leadership.ts';
import type { WriteRequest } from '../src/rpc/write-request.ts';
import { Membership } from '../src/worker/leader/membership.ts';
import type { OpenedDatabase } from '../src/worker/leader/opened-database.ts';
import type { BroadcastPort } from '../src/worker/leader/tab-channel.ts';
import type { TabOptions } from '../src/worker/leader/tab-options.ts';
import type { EncodedRows } from '../src/rpc/rows-transfer.ts';
import type { SnapshotProgress } from '../src/rpc/snapshot-progress.ts';
import type { Touched } from '../src/rpc/query-dependencies.ts';
import type { SqlStatement } from '../src/rpc/sql-statement.ts';
import { INITIAL_STATUS, type TabRole } from '../src/rpc/sync-status.ts';

// Several tabs in one process with a simulated browser: locks with a queue, a broadcast channel, a clock that the test
// moves, and a database file that remembers requests. A tab can be killed at any moment: its lock passes to the next
// tab, and its messages and timers never arrive.

export const FAKE_STATUS: LeaderStatus = { ...INITIAL_STATUS, state: 'offline' };

/** The shared state of all tabs. */
export interface FakeFile {
  /** The SQL of every statement and the kind of every action that took effect, in order. */
  readonly effects: string[];
  readonly requests: Map<string, readonly { changes: number }[]>;
  writers: number;
  exists: boolean;
  hasFailed: boolean;
}

export interface FakeTab {
  readonly membership: Membership<FakeDatabase>;
  readonly touched: Touched[];
  /** The reported progress of a first sync in another tab. */
  readonly firstSync: SnapshotProgress[];
  readonly problems: RockpoolError[];
  readonly ended: RockpoolError[];
  role: TabRole | null;
  /** Roles and states, as reported. */
  readonly told: string[];
  status: LeaderStatus | null;
  /** Makes the work of this tab, which leads, publish a status with this state. */
  publish(state: LeaderStatus['state']): void;
  /** Ends the tab at once. */
  kill(): void;
  readonly isAlive: boolean;
}

export interface FakeDatabase extends WritableDatabase {
  readonly role: 'writer' | 'reader';
}

export interface FakeTabOptions {
  readonly schema?: string;
  readonly migrationCount?: number;
  /** Default: without sync. */
  readonly tabOptions?: TabOptions;
  /** Whether followers open the file too. Default true. */
  readonly sharesFiles?: boolean;
  readonly failToOpen?: (role: 'writer' | 'reader') => RockpoolError | null;
  /** Why the file may not be written when it is opened. Default: it may. */
  readonly readOnly?: () => RockpoolError | null;
  /** See OpenDatabase. Default: no bundle is newer. */
  readonly hasOlderRulesThan?: (schema: string) => boolean;
  /** The error that closing the file rejects with; the file is closed nevertheless. */
  readonly failToClose?: () => RockpoolError | null;
  /** Runs before the file is opened. Default: nothing. */
  readonly beforeOpen?: () => Promise<void>;
  /** Runs before each read. Default: nothing. */
  readonly beforeRead?: () => Promise<void>;
  /** Resolves when the medium has stored the commits of this tab. Default: at once. */
  readonly committed?: () => Promise<void>;
  /** The tab is killed as soon as a commit with this SQL is in the file, before any tab learns of it. */
  readonly dieAfter?: string;
}

/** Fails the first time it runs and never again, as if another write had removed the obstacle. */
export const FAILING_ONCE_SQL = 'FAIL ONCE';

export class FakeBrowser {
  readonly file: FakeFile = { effects: [], requests: new Map(), writers: 0, exists: false, hasFailed: false };
  private nowMs = 1_000_000;
  /** How far the wall clock is ahead of the elapsed time. */
  clockOffsetMs = 0;
  private nextId = 1;
  private readonly timers = new Set<{
    readonly dueMs: number;
    readonly callback: () => void;
    readonly isAlive: () => boolean;
  }>();
  private readonly ports = new Set<FakePort>();
  private readonly lockQueues = new Map<string, FakeCandidate[]>();
  /** Returns the number of times that a message arrives; 0 loses it. Default: 1. */
  deliveries: () => number = () => 1;
  /** Drops messages by kind. Default: none. */
  isLost: (message: ChannelMessage) => boolean = () => false;

  tab(options: FakeTabOptions = {}): FakeTab {
    const life = { isAlive: true };
    const tab: FakeTab = {
      membership: new Membership<FakeDatabase>({
        scope: 'test',
        schema: options.schema ?? 'schema',
        migrationCount: options.migrationCount ?? 0,
        tabOptions: options.tabOptions ?? { sync: null, durability: 'relaxed' },
        initialStatus: FAKE_STATUS,
        locks: this.locks(life),
        openPort: (channelName) => this.openPort(channelName, life),
        clock: {
          nowMs: () => this.nowMs + this.clockOffsetMs,
          elapsedMs: () => this.nowMs,
          after: (delayMs, callback) => {
            const timer = { dueMs: this.nowMs + delayMs, callback, isAlive: () => life.isAlive };
            this.timers.add(timer);
            return () => void this.timers.delete(timer);
          },
        },
        newId: () => `id-${this.nextId++}`,
        sharesFiles: options.sharesFiles ?? true,
        openDatabase: async (role) => {
          await options.beforeOpen?.();
          if (!life.isAlive) return new Promise<never>(() => undefined);
          const failure = options.failToOpen?.(role) ?? null;
          if (failure !== null) throw failure;
          const opened = this.openFile(role, life, options, tab);
          const close = async (how: { readonly handsOver: boolean }): Promise<void> => {
            await opened.close(how);
            const unclosed = options.failToClose?.() ?? null;
            if (unclosed !== null) throw unclosed;
          };
          return { ...opened, close, ...(options.committed && { committed: options.committed }) };
        },
        // Like sync, the work reports that it is stopped.
        startWork: (tools) => {
          tab.publish = (state) => tools.publishStatus({ ...FAKE_STATUS, state });
          return {
            onLocalCommit: () => undefined,
            tryNow: () => undefined,
            stop: async () => tools.publishStatus(FAKE_STATUS),
          };
        },
        onTouched: (touched) => tab.touched.push(touched),
        onFirstSync: ({ receivedBytes, totalBytes }) => tab.firstSync.push({ receivedBytes, totalBytes }),
        onStatus: (status, role) => {
          tab.told.push(`${role} ${status.state}`);
          tab.status = status;
          tab.role = role;
        },
        onProblem: (error) => tab.problems.push(error),
        onEnded: (error) => tab.ended.push(error),
      }),
      touched: [],
      firstSync: [],
      problems: [],
      ended: [],
      role: null,
      told: [],
      status: null,
      publish: () => {
        throw new Error('a tab without work has published');
      },
      kill: () => {
        if (!life.isAlive) return;
        life.isAlive = false;
        for (const queue of this.lockQueues.values()) {
          for (const candidate of queue.filter((one) => one.life === life)) candidate.release();
        }
      },
      get isAlive() {
        return life.isAlive;
      },
    };
    return tab;
  }

  async advance(durationMs: number): Promise<void> {
    const untilMs = this.nowMs + durationMs;
    for (;;) {
      await settle();
      const due = [...this.timers].filter((timer) => timer.dueMs <= untilMs).sort((a, b) => a.dueMs - b.dueMs)[0];
      if (due === undefined) break;
      this.nowMs = Math.max(this.nowMs, due.dueMs);
      this.timers.delete(due);
      if (due.isAlive()) due.callback();
    }
    this.nowMs = untilMs;
    await settle();
  }

  /** Advances time without running timers. Those that are due run with the next `advance`. */
  sleep(durationMs: number): void {
    this.nowMs += durationMs;
  }

  /** Sends a message from a tab of another bundle. */
  broadcastRaw(data: unknown): void {
    for (const port of this.ports) port.deliver(data);
  }

  private openFile(
    role: 'writer' | 'reader',
    life: Life,
    { dieAfter, beforeRead, readOnly = () => null, hasOlderRulesThan = () => false }: FakeTabOptions,
    tab: FakeTab,
  ): OpenedDatabase<FakeDatabase> {
    const { file } = this;
    let isOpen = true;
    if (role === 'reader' && !file.exists) throw new RockpoolError('storage-missing');
    if (role === 'writer') {
      // The lock must exclude a second writer. A killed tab holds nothing.
      if (file.writers > 0) throw new Error('two writers have the file open');
      file.writers++;
      file.exists = true;
      const { kill } = tab;
      tab.kill = () => {
        if (life.isAlive && isOpen) file.writers--;
        isOpen = false;
        kill();
      };
    }
    const write = ({ id, statements, action }: WriteRequest): ReturnType<WritableDatabase['write']> => {
      if (!life.isAlive || !isOpen || role === 'reader') throw new Error('a tab that may not write has written');
      const done = file.requests.get(id);
      if (done !== undefined) return { results: done, touchedTables: [], changes: [], repeated: true };
      if (action?.kind === 'commit-transaction') throw new RockpoolError('transaction-lost');
      if (statements.some(({ sql }) => sql === FAILING_ONCE_SQL) && !file.hasFailed) {
        file.hasFailed = true;
        throw new RockpoolError('constraint-unique', { table: 't' });
      }
      const results = statements.map(() => ({ changes: 1 }));
      file.effects.push(...statements.map(({ sql }) => sql));
      if (action !== undefined) file.effects.push(action.kind);
      file.requests.set(id, results);
      if (statements.some(({ sql }) => sql === dieAfter)) tab.kill();
      return { results, touchedTables: ['t'], changes: [], repeated: false };
    };
    const begin: WritableDatabase['begin'] = () => {
      if (!life.isAlive || !isOpen || role === 'reader')
        throw new Error('a tab that may not write has begun a transaction');
      let effects: string[] = [];
      const savepoints: string[][] = [];
      return {
        isOver: false,
        // A read returns no rows here; its column names are the writes of the transaction.
        query: () => ({ names: effects, columns: [], rowCount: 0 }),
        execute: ({ sql }) => {
          effects.push(sql);
          return { changes: 1 };
        },
        savepoint: () => void savepoints.push([...effects]),
        release: () => void savepoints.pop(),
        undo: () => void (effects = savepoints.pop() ?? []),
        rollback: () => void (effects = []),
        commit: (requestId) => {
          if (effects.includes(FAILING_ONCE_SQL) && !file.hasFailed) {
            file.hasFailed = true;
            throw new RockpoolError('constraint-foreign-key');
          }
          file.effects.push(...effects);
          file.requests.set(requestId, []);
          if (effects.some((sql) => sql === dieAfter)) tab.kill();
          return { results: [], touchedTables: ['t'], changes: [], repeated: false };
        },
      };
    };
    const close = async (): Promise<void> => {
      // Long enough that another tab could open the file if it were admitted too early.
      await new Promise((resolve) => setTimeout(resolve));
      if (isOpen && role === 'writer') file.writers--;
      isOpen = false;
    };
    // Returns a result whose column names are the effects. Throws unless the file is open.
    const query = async (): Promise<EncodedRows> => {
      await beforeRead?.();
      if (!life.isAlive || !isOpen) throw new Error('a tab that is dead or has no open file has read');
      return { names: [...file.effects], columns: [], rowCount: 0 };
    };
    return {
      database: { role, readOnly: readOnly(), hasOlderRulesThan, write, begin },
      reads: {
        query,
        queryAll: (statements) => Promise.all(statements.map(async () => ({ rows: await query(), tookMs: 0 }))),
        dependencies: async () => [{ table: 't', columns: [], lookups: null }],
        listRejected: async () => [],
        listWaiting: async () => [],
        rowSyncState: async () => ({ stage: 'none', changes: [], conflicts: [] }),
        writeStates: async () => [],
        backup: async () => new Blob(),
      },
      close,
    };
  }

  private openPort(channelName: string, life: Life): BroadcastPort {
    const port: FakePort = {
      channelName,
      onmessage: null,
      deliver: (data) => {
        queueMicrotask(() => {
          if (life.isAlive && this.ports.has(port)) port.onmessage?.({ data } as MessageEvent);
        });
      },
      postMessage: (message) => {
        if (!life.isAlive) return;
        const data = structuredClone(message);
        if (this.isLost((data as { message: ChannelMessage }).message)) return;
        for (const other of this.ports) {
          if (other !== port && other.channelName === channelName)
            for (let times = this.deliveries(); times > 0; times--) other.deliver(data);
        }
      },
      close: () => void this.ports.delete(port),
    };
    this.ports.add(port);
    return port;
  }

  private locks(life: Life): Locks {
    return {
      request: (name, { ifAvailable = false, signal }, callback) =>
        new Promise((resolve, reject) => {
          if (!life.isAlive) return;
          const queue = this.lockQueues.get(name) ?? [];
          this.lockQueues.set(name, queue);
          const grantFirst = (): void => {
            const [first] = queue;
            if (first !== undefined && !first.granted) first.grant();
          };
          const candidate: FakeCandidate = {
            life,
            granted: false,
            grant: () => {
              candidate.granted = true;
              queueMicrotask(() => {
                if (!life.isAlive) return;
                Promise.resolve(callback({})).then((value) => {
                  candidate.release();
                  resolve(value);
                }, reject);
              });
            },
            release: () => {
              const index = queue.indexOf(candidate);
              if (index >= 0) queue.splice(index, 1);
              grantFirst();
            },
          };
          if (ifAvailable && queue.length > 0) return queueMicrotask(() => resolve(callback(null)));
          signal?.addEventListener('abort', () => {
            if (candidate.granted) return;
            candidate.release();
            reject(new DOMException('aborted', 'AbortError'));
          });
          queue.push(candidate);
          grantFirst();
        }),
    };
  }
}

interface Life {
  isAlive: boolean;
}

interface FakePort extends BroadcastPort {
  readonly channelName: string;
  deliver(data: unknown): void;
}

interface FakeCandidate {
  readonly life: Life;
  granted: boolean;
  grant(): void;
  release(): void;
}

/** Runs everything that is in progress and needs no time to pass. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setTimeout(resolve));
}

export function statement(sql: string): SqlStatement {
  return { sql, params: [] };
}
