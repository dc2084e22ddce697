import type { SqlValue } from '../../rpc/sql-value.ts';
import type { Connection } from '../sqlite/connection.ts';
import { isChangelogCodeLoaded, changelogCode } from './load-changelog-code.ts';
import type { Unpacked } from './pack-changesets.ts';
import type { StoredChangeset } from './stored-changeset.ts';

interface Pack {
  readonly first: number;
  readonly last: number;
  readonly packed: Uint8Array;
}

/**
 * rockpool_changelog_pack: runs of admitted changesets, compressed. A device keeps admitted changesets for days, and
 * unpacked they would take more space than the rows that they wrote. Pending, rejected and large changesets, and the
 * last one, stay in rockpool_changelog.
 */
export class ChangelogPacks {
  private readonly connection: Connection;
  // Valid while the number of writes to the table of packs is still `consideredAt`.
  private unpacked: Unpacked = { from: 0, againAt: 0 };
  private consideredAt = -1;

  constructor(connection: Connection) {
    this.connection = connection;
  }

  get isEmpty(): boolean {
    return this.connection.value('SELECT 1 FROM rockpool_changelog_pack LIMIT 1') === undefined;
  }

  /**
   * Packs the next run of changesets up to `upTo`, if it is complete. All of them must be decided. Does nothing until
   * the code for packing is loaded.
   */
  packUpTo(upTo: number): void {
    if (!isChangelogCodeLoaded()) return;
    const writes = this.connection.writesOf('rockpool_changelog_pack');
    // A rollback and an undone commit each count as a write.
    if (writes?.count !== this.consideredAt) this.unpacked = { from: this.last() + 1, againAt: 0 };
    changelogCode().packRun(this.connection, this.unpacked, upTo);
    this.consideredAt = writes?.count ?? -1;
  }

  /** The newest packed sequence; 0 if there is none. */
  private last(): number {
    return this.connection.knownValue(
      'rockpool_changelog_pack',
      'SELECT ifnull(max(last), 0) FROM rockpool_changelog_pack',
    ) as number;
  }

  /** The changeset, if it is packed. */
  find(sequence: number): StoredChangeset | undefined {
    const [pack] = this.packs('last >= ? ORDER BY last LIMIT 1', sequence);
    return pack === undefined ? undefined : unpack(pack)[sequence - pack.first];
  }

  /** The first and the last sequence of each pack with changesets after `sequence`, in order. */
  rangesAfter(sequence: number): readonly (readonly [first: number, last: number])[] {
    if (this.last() <= sequence) return [];
    return this.connection.rows(
      'SELECT first, last FROM rockpool_changelog_pack WHERE last > ? ORDER BY last',
      sequence,
    ) as [number, number][];
  }

  /** The changesets of the pack that ends with this sequence. */
  contentsOf(last: number): StoredChangeset[] {
    return this.packs('last = ?', last).flatMap(unpack);
  }

  /** Moves packs with changesets after `sequence` back to rockpool_changelog, since these may be decided again. */
  unpackAfter(sequence: number): void {
    for (const [, last] of this.rangesAfter(sequence)) changelogCode().moveBack(this.connection, this.contentsOf(last));
    this.consideredAt = -1;
  }

  /** Removes packs whose changesets are all before `sequence`. */
  removeBefore(sequence: number): void {
    this.connection.run('DELETE FROM rockpool_changelog_pack WHERE last < ?', sequence);
  }

  private packs(where: string, ...params: readonly SqlValue[]): Pack[] {
    return this.connection
      .rows(`SELECT first, last, packed FROM rockpool_changelog_pack WHERE ${where}`, ...params)
      .map(([first, last, packed]) => ({ first, last, packed }) as Pack);
  }
}

function unpack({ first, packed }: Pack): StoredChangeset[] {
  return changelogCode().decodePack(packed, first);
}
