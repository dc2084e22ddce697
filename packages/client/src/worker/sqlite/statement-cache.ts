// The maximum number of idle statements in one context. An app has tens of distinct statements, rarely hundreds; an
// idle one takes a few KB of SQLite's memory.
const MOST_IDLE = 200;

/** The inputs, besides the SQL, that SQLite compiles into a statement. */
export interface CompileContext {
  /**
   * Whether a capture is recording. A DELETE without WHERE that was compiled while none was recording empties its table
   * in one step, which a capture that begins later cannot see.
   */
  readonly isRecorded: boolean;
  readonly hasTriggers: boolean;
  readonly hasForeignKeys: boolean;
  /** The name of the policy; empty for an internal statement. */
  readonly policy: string;
}

/** The part of a statement that its cache uses. */
export interface CachedStatement {
  readonly sql: string;
  /** The idle statements of its context, by SQL. The least recently used is first. */
  readonly home: Map<string, this>;
  finalize(): void;
}

/**
 * Idle prepared statements. The SQL alone is the key within a context: a key made of both would be hashed each time.
 */
export class StatementCache<Statement extends CachedStatement> {
  private readonly contexts: Map<string, Map<string, Statement>[]> = new Map();

  /** The idle statements of a context. */
  in({ isRecorded, hasTriggers, hasForeignKeys, policy }: CompileContext): Map<string, Statement> {
    let ofPolicy = this.contexts.get(policy);
    if (ofPolicy === undefined) {
      ofPolicy = Array.from({ length: 8 }, () => new Map());
      this.contexts.set(policy, ofPolicy);
    }
    const index = (isRecorded ? 4 : 0) + (hasTriggers ? 2 : 0) + (hasForeignKeys ? 1 : 0);
    return ofPolicy[index] as Map<string, Statement>;
  }

  /**
   * Keeps a statement for the next use, unless an equal one is idle already. Finalizes the least recently used
   * statements beyond the limit.
   */
  keep(statement: Statement): void {
    const { home, sql } = statement;
    if (home.has(sql)) return statement.finalize();
    home.set(sql, statement);
    if (home.size <= MOST_IDLE) return;
    for (const oldest of home.values()) return oldest.finalize();
  }

  finalizeAll(): void {
    for (const ofPolicy of this.contexts.values())
      for (const idle of ofPolicy) for (const statement of [...idle.values()]) statement.finalize();
  }
}
