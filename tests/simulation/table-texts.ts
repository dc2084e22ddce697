import { quoteName } from '#shared/index.ts';

/** Runs a query whose values are all texts or NULL. Returns its first row; empty if there is none. */
export type AskForTexts = (sql: string) => readonly (string | null)[];

/** Several texts by name, read by one statement: a check of many tables costs one call of SQLite instead of many. */
export class NamedTexts {
  /** The query of each text. */
  readonly sqlByName: ReadonlyMap<string, string>;
  private readonly sql: string;

  constructor(sqlByName: ReadonlyMap<string, string>) {
    this.sqlByName = sqlByName;
    this.sql = `SELECT ${[...sqlByName].map(([name, sql]) => `(${sql}) AS ${quoteName(name)}`).join(', ')}`;
  }

  /**
   * Reads the texts; NULL counts as empty. Returns the strings of `known` where they are equal, so that a series of
   * texts that seldom change takes little memory.
   */
  read(ask: AskForTexts, known?: ReadonlyMap<string, string>): Map<string, string> {
    const texts = ask(this.sql);
    return new Map(
      [...this.sqlByName.keys()].map((name, index) => {
        const text = texts[index] ?? '';
        const before = known?.get(name);
        return [name, before === text ? before : text];
      }),
    );
  }
}
