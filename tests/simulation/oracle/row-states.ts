import type { Row } from './row-rules.ts';
import { tableOf } from './tables.ts';

/** All rows that the oracle has recorded, present and deleted. Can revert them to each earlier state. */
export class RowStates {
  private readonly rows = new Map<string, Row>();
  private readonly byTable = new Map<string, Set<string>>();
  private undo: (() => void)[] = [];
  private touched = new Set<string>();

  get(row: string): Row | undefined {
    return this.rows.get(row);
  }

  set(row: string, state: Row | undefined): void {
    const before = this.rows.get(row);
    this.undo.push(() => this.put(row, before));
    this.put(row, state);
  }

  /** The names of all recorded rows of a table. */
  of(table: string): ReadonlySet<string> {
    return this.byTable.get(table) ?? new Set();
  }

  all(): Iterable<readonly [string, Row]> {
    return this.rows;
  }

  /** Returns the tables in which a row has changed since the last call. */
  takeTouched(): ReadonlySet<string> {
    const { touched } = this;
    this.touched = new Set();
    return touched;
  }

  /** Returns a function that reverts all changes since the last call. */
  takeUndo(): () => void {
    const undo = this.undo;
    this.undo = [];
    return () => {
      while (undo.length > 0) undo.pop()?.();
      this.undo = [];
    };
  }

  private put(row: string, state: Row | undefined): void {
    const { name } = tableOf(row);
    const ofTable = this.byTable.get(name) ?? new Set();
    this.byTable.set(name, ofTable);
    this.touched.add(name);
    if (state === undefined) {
      this.rows.delete(row);
      ofTable.delete(row);
    } else {
      this.rows.set(row, state);
      ofTable.add(row);
    }
  }
}
