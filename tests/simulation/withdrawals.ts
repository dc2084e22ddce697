import type { OpenDatabase } from '#client/worker/database/open-database.ts';
import { WITHDRAWN } from '#client/worker/changelog/withdrawn.ts';

interface Withdrawal {
  readonly device: string;
  /** Hex: the site ids under which the device had written the transaction before. */
  readonly sites: ReadonlySet<string>;
  /** Whether the device had handed it to the network before. */
  readonly wasSent: boolean;
}

/** The marks of one changeset in a changelog. */
type MarksIn = (database: OpenDatabase, sequence: number) => readonly string[];

/**
 * Transactions that a user has withdrawn from the outbox, by mark. The server may admit one only if it was on its way
 * before, and only from the site that sent it; a user who tries it again ends the withdrawal.
 */
export class Withdrawals {
  private readonly asked = new Set<string>();
  /** The devices whose users have asked for any, and their copies. */
  private readonly devices = new Set<string>();
  /** All transactions that the server has ever admitted, also while a user withdrew them. */
  private readonly admitted = new Set<string>();
  private readonly byMark = new Map<string, Withdrawal>();
  private readonly marksIn: MarksIn;

  constructor(marksIn: MarksIn) {
    this.marksIn = marksIn;
  }

  /**
   * A user asks for it. The device may die before the user learns whether it was stored. `mark`: null if the
   * transaction has none.
   */
  ask(device: string, mark: string | null): void {
    this.devices.add(device);
    if (mark !== null) this.asked.add(mark);
  }

  /** A copy of a device's files has what its user had withdrawn. */
  copy(device: string, copy: string): void {
    if (this.devices.has(device)) this.devices.add(copy);
  }

  /**
   * Whether a user of the device, or of the one that it was copied from, has asked for a changeset with these marks.
   * Edits of documents have none.
   */
  isAsked(device: string, marks: readonly string[]): boolean {
    return this.devices.has(device) && marks.every((mark) => this.asked.has(mark));
  }

  /** The page knows that it is stored. */
  record(mark: string, withdrawal: Withdrawal): void {
    this.byMark.set(mark, withdrawal);
  }

  /** Returns the number of ended ones. */
  end(marks: readonly string[]): number {
    return marks.filter((mark) => this.byMark.delete(mark)).length;
  }

  /** The server has admitted a transaction of a site (hex). */
  onAdmitted(mark: string | null, site: string, onFault: (fault: string) => void): void {
    if (mark === null || this.admitted.has(mark)) return;
    this.admitted.add(mark);
    const known = this.byMark.get(mark);
    if (known === undefined) return;
    if (!known.wasSent) onFault(`${mark} was withdrawn before it was sent, and is admitted`);
    else if (!known.sites.has(site)) onFault(`${mark} was withdrawn, and is sent again as another site`);
  }

  /** Forgets what the storage of a device may have lost. Returns the number of lost withdrawals. */
  forgetLost(device: string, database: OpenDatabase): number {
    const lost = this.missing(device, database);
    this.end(lost);
    return lost.length;
  }

  /** Returns the fault in a freshly opened database: a withdrawal stays until the server has the transaction. */
  lost(device: string, database: OpenDatabase, dropped: ReadonlySet<string>): string | null {
    const mark = this.missing(device, database).find((one) => !dropped.has(one));
    return mark === undefined ? null : `the withdrawal of ${mark} is lost`;
  }

  /** Which withdrawn transactions of a device are on the server, and which are listed as rejected. */
  ofDevice(
    device: string,
    database: OpenDatabase,
    onServer: ReadonlySet<string>,
  ): { readonly mark: string; readonly isOnServer: boolean; readonly isListed: boolean }[] {
    const listed = this.listed(database);
    return [...this.byMark]
      .filter(([, one]) => one.device === device)
      .map(([mark]) => ({ mark, isOnServer: onServer.has(mark), isListed: listed.has(mark) }));
  }

  private missing(device: string, database: OpenDatabase): string[] {
    const listed = this.listed(database);
    return [...this.byMark]
      .filter(([mark, one]) => one.device === device && !this.admitted.has(mark) && !listed.has(mark))
      .map(([mark]) => mark);
  }

  private listed(database: OpenDatabase): ReadonlySet<string> {
    const sequences = this.byMark.size === 0 ? [] : [...database.rejected.sequences(undefined, WITHDRAWN)];
    return new Set(sequences.flatMap((sequence) => this.marksIn(database, sequence)));
  }
}
