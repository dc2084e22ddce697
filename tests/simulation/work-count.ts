import { Statement } from '#client/worker/sqlite/statement.ts';
import { SqliteFile } from '#sync-server/sqlite/sqlite-file.ts';
import { currentOwner } from './virtual-time.ts';

type Method = (this: unknown, ...args: unknown[]) => unknown;

let checks = 0;

/** Runs a check of the simulation in the middle of a worker's code. Its reads do not count as work of the product. */
export function asCheck<T>(body: () => T): T {
  checks++;
  try {
    return body();
  } finally {
    checks--;
  }
}

/**
 * Counts the work in SQLite from now on: on the devices each step of a statement, on the server each statement and each
 * row that it returns. The checks of the simulation do not count, because they run outside of a worker or through
 * `asCheck`.
 */
export class WorkCount {
  devices = 0;
  server = 0;
  private readonly restore: (() => void)[] = [];

  constructor() {
    this.around(Statement.prototype, 'step', () => this.devices++);
    for (const name of ['run', 'get', 'exec'] as const) this.around(SqliteFile.prototype, name, () => this.server++);
    this.around(SqliteFile.prototype, 'all', (rows) => (this.server += 1 + (rows as unknown[]).length));
  }

  stop(): void {
    for (const restore of this.restore) restore();
  }

  private around(target: object, name: string, count: (result: unknown) => void): void {
    const methods = target as Record<string, Method>;
    const original = methods[name] as Method;
    methods[name] = function (...args) {
      const result = original.apply(this, args);
      if (currentOwner() !== undefined && checks === 0) count(result);
      return result;
    };
    this.restore.push(() => void (methods[name] = original));
  }
}
