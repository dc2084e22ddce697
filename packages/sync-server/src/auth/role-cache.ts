import { RockpoolError } from '@rockpool/shared';
import { SharedRead } from '../postgres/shared-read.ts';
import { EVERY_DATABASE, type MemberStore, type StoredMember } from './member-store.ts';
import type { Role } from './role.ts';

/**
 * Interval of the polls for changes that the bus does not announce: those by the command, and those of other instances
 * whose message was lost.
 */
const POLL_INTERVAL_MS = 2_000;

/**
 * Interval at which all roles are compared with the store's. Polls miss a role whose commit took longer than a minute,
 * and one that another program wrote. 100,000 roles take 0.25 s of CPU time, in 50 pages.
 */
const CHECK_INTERVAL_MS = 60_000;

/** A page holds the thread for 3 to 5 ms. */
const PAGE_MEMBERS = 2_000;

/** A poll takes milliseconds. Over a silent connection it gets no answer. */
const POLL_DEADLINE_MS = 10_000;

/** The delay before roles that failed to load are loaded again. */
const LOAD_AGAIN_MS = 500;

export interface RoleCacheOptions {
  readonly store: Pick<MemberStore, 'readAll' | 'readRecent' | 'readPage' | 'readMembers' | 'readDatabase'>;
  /** Called when a role in this database has changed at another instance or by the command. */
  readonly onChanged: (databaseId: string) => void;
  readonly onError: (error: unknown) => void;
  /** Default: half a second. */
  readonly loadAgainMs?: number | undefined;
  /** Default: 2 s. */
  readonly pollIntervalMs?: number | undefined;
  /** After this time, a poll without an answer is given up. Default: 10 s. */
  readonly pollDeadlineMs?: number | undefined;
  /** Default: one minute. A synchronous store is only compared after a failed poll. */
  readonly checkIntervalMs?: number | undefined;
}

type Roles = Map<string, Map<string, Role | null>>;

type Change = () => void;

/**
 * The stored roles in memory, because every message checks one. The cache follows the store:
 * 1. What this instance stores is applied at once, and again after each read that was under way, which may be older.
 * 2. What others store is polled. A poll without an answer is given up, so that a silent connection does not delay the
 *    next one.
 * 3. A poll returns no deleted roles, but the number of stored ones. If the cache has another number, the roles of the
 *    announced databases are replaced. If the numbers still differ, all roles are compared with the store's.
 * 4. All roles are also compared after a failed poll and, where several instances share the store, once a minute.
 * 5. Before a principal without a role, or with a revoked one, is refused, the role is looked up: another instance may
 *    just have stored it, and a client that is refused waits for up to a minute.
 */
export class RoleCache {
  private readonly options: RoleCacheOptions;
  // Database id → principal → role.
  private roles: Roles = new Map();
  private loadingNow: Promise<void> | null = null;
  private isPolling = false;
  private isPollDue = false;
  private isChecking = false;
  private isCheckDue = false;
  // Keyed by both ids, so that simultaneous requests of one principal need only one read.
  private sought = new Map<string, Pick<StoredMember, 'databaseId' | 'principal'>>();
  private readonly lookUps = new SharedRead(() => this.readSought());
  private readonly isShared: boolean;
  // Databases whose members other instances have changed or deleted since the last poll.
  private readonly announced = new Set<string>();
  // For each read under way, the changes since it began.
  private readonly changesDuring = new Set<Change[]>();
  private readonly timers: readonly NodeJS.Timeout[];
  private isClosed = false;

  constructor(options: RoleCacheOptions) {
    this.options = options;
    const { store, pollIntervalMs = POLL_INTERVAL_MS, checkIntervalMs = CHECK_INTERVAL_MS } = options;
    const stored = store.readAll();
    // A store in files is synchronous, and belongs to one instance.
    this.isShared = stored instanceof Promise;
    if (stored instanceof Promise) this.loadingNow = this.load(stored);
    else this.roles = rolesOf(stored);
    // Callers that wait for it receive the rejection.
    this.loadingNow?.catch(() => undefined);
    this.timers = [
      setInterval(() => this.follow(), pollIntervalMs).unref(),
      // The polls of a single instance miss nothing.
      ...(this.isShared ? [setInterval(() => (this.isCheckDue = true), checkIntervalMs).unref()] : []),
    ];
  }

  /** Pending until the roles are loaded, then null. Rejects with `auth-unavailable` if the cache is closed before. */
  get loading(): Promise<void> | null {
    return this.loadingNow;
  }

  /** Returns undefined if no role is stored. */
  roleOf(databaseId: string, principal: string): Role | null | undefined {
    return this.roles.get(databaseId)?.get(principal);
  }

  /**
   * Reads the roles of a principal in a database and in EVERY_DATABASE again. Null if no other instance can have stored
   * one. Rejects with `auth-unavailable`.
   */
  lookUp(databaseId: string, principal: string): Promise<void> | null {
    if (!this.isShared) return null;
    for (const id of [databaseId, EVERY_DATABASE]) this.sought.set(`${id} ${principal}`, { databaseId: id, principal });
    return this.lookUps.run().catch((error: unknown) => {
      throw new RockpoolError('auth-unavailable', {}, { cause: error });
    });
  }

  /** The roles of a database by principal. */
  rolesIn(databaseId: string): ReadonlyMap<string, Role | null> {
    return this.roles.get(databaseId) ?? new Map();
  }

  /** Applies a role that this instance has stored. Returns whether it differs from the one before. */
  set(member: StoredMember): boolean {
    const isChanged = setRole(this.roles, member);
    this.change(() => void setRole(this.roles, member));
    return isChanged;
  }

  /** Removes the roles of a database after this instance has deleted them from the store. */
  delete(databaseId: string): void {
    this.change(() => void this.roles.delete(databaseId));
  }

  /** Polls what others have changed. `databaseId`: a database whose members have changed or were deleted. */
  follow(databaseId?: string): void {
    if (databaseId !== undefined) this.announced.add(databaseId);
    this.isPollDue = true;
    if (!this.isPolling && this.loadingNow === null) void this.pollWhileDue();
  }

  close(): void {
    this.isClosed = true;
    for (const timer of this.timers) clearInterval(timer);
  }

  private change(apply: Change): void {
    apply();
    for (const changes of this.changesDuring) changes.push(apply);
  }

  private async pollWhileDue(): Promise<void> {
    this.isPolling = true;
    while (this.isPollDue && !this.isClosed) {
      this.isPollDue = false;
      try {
        await this.poll();
        if (this.isCheckDue && !this.isChecking) void this.checkNow();
      } catch (error) {
        this.isCheckDue = true;
        this.report(error);
      }
    }
    this.isPolling = false;
  }

  private async checkNow(): Promise<void> {
    this.isChecking = true;
    this.isCheckDue = false;
    try {
      await this.checkAll();
    } catch (error) {
      this.isCheckDue = true;
      this.report(error);
    }
    this.isChecking = false;
  }

  private async poll(): Promise<void> {
    const announced = [...this.announced];
    this.announced.clear();
    const count = await this.read(
      () => this.inTime(this.options.store.readRecent()),
      (recent, changes) => {
        if (recent === null) return null;
        this.apply(recent.members, changes);
        // The store's number lacks what this instance has stored since the read began, so only the next poll compares
        // it.
        return changes.length > 0 || this.count() === recent.count ? null : recent.count;
      },
    );
    if (count === null) return;
    for (const databaseId of announced) await this.replaceDatabase(databaseId);
    if (this.count() !== count) this.isCheckDue = true;
  }

  /** Compares all roles with those in the store. Pages keep the thread free for sessions. */
  private async checkAll(): Promise<void> {
    const countByDatabase = new Map<string, number>();
    let page: readonly StoredMember[] = [];
    do {
      const after = page.at(-1) ?? null;
      page = await this.read(
        () => this.inTime(this.options.store.readPage(after, PAGE_MEMBERS)),
        (members, changes) => {
          this.apply(members, changes);
          return members;
        },
      );
      for (const { databaseId } of page) countByDatabase.set(databaseId, (countByDatabase.get(databaseId) ?? 0) + 1);
    } while (page.length === PAGE_MEMBERS && !this.isClosed);
    for (const [databaseId, members] of [...this.roles])
      if (members.size !== (countByDatabase.get(databaseId) ?? 0)) await this.replaceDatabase(databaseId);
  }

  private readSought(): Promise<void> {
    const sought = [...this.sought.values()];
    this.sought.clear();
    return this.read(
      () => this.inTime(this.options.store.readMembers(sought)),
      (members, changes) => this.apply(members, changes),
    );
  }

  /** Applies what was read, and then the changes since the read began. */
  private apply(members: readonly StoredMember[], changes: readonly Change[]): void {
    const changed = members.filter(({ databaseId, principal, role }) => this.roleOf(databaseId, principal) !== role);
    for (const member of changed) this.set(member);
    for (const change of changes) this.change(change);
    for (const databaseId of new Set(changed.map((member) => member.databaseId))) this.options.onChanged(databaseId);
  }

  private replaceDatabase(databaseId: string): Promise<void> {
    return this.read(
      () => this.inTime(this.options.store.readDatabase(databaseId)),
      (members, changes) => {
        const before = this.rolesIn(databaseId);
        this.delete(databaseId);
        for (const member of members) this.set(member);
        for (const change of changes) this.change(change);
        if (!areSame(before, this.rolesIn(databaseId))) this.options.onChanged(databaseId);
      },
    );
  }

  /**
   * Retries until the roles are loaded. Sessions wait until then: an instance that started while the store was
   * unreachable must not refuse every client.
   */
  private async load(first: Promise<readonly StoredMember[]>): Promise<void> {
    const { store, loadAgainMs = LOAD_AGAIN_MS } = this.options;
    for (let reading = first; ; reading = Promise.resolve(store.readAll())) {
      try {
        await this.read(
          () => reading,
          (members, changes) => {
            this.roles = rolesOf(members);
            for (const change of changes) change();
          },
        );
        this.loadingNow = null;
        return;
      } catch (error) {
        this.report(error);
      }
      await new Promise((resolve) => void setTimeout(resolve, loadAgainMs).unref());
      // Loading from a closed store would reject, and no caller would handle that.
      if (this.isClosed) throw new RockpoolError('auth-unavailable');
    }
  }

  /** Passes `apply` what was read, and the changes of the roles since the read began. */
  private async read<Found, Result>(
    find: () => Found | Promise<Found>,
    apply: (found: Found, changes: readonly Change[]) => Result,
  ): Promise<Result> {
    const changes: Change[] = [];
    this.changesDuring.add(changes);
    let found: Found;
    try {
      found = await find();
    } finally {
      this.changesDuring.delete(changes);
    }
    return apply(found, changes);
  }

  /** Rejects if the store does not answer in time. */
  private async inTime<Answer>(answer: Answer | Promise<Answer>): Promise<Answer> {
    if (!(answer instanceof Promise)) return answer;
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => reject(new RockpoolError('database-unavailable', { problem: 'PostgreSQL', systemCode: 'ETIMEDOUT' })),
      this.options.pollDeadlineMs ?? POLL_DEADLINE_MS,
    );
    return Promise.race([answer, late]).finally(() => clearTimeout(timer));
  }

  private report(error: unknown): void {
    if (!this.isClosed) this.options.onError(error);
  }

  private count(): number {
    let count = 0;
    for (const members of this.roles.values()) count += members.size;
    return count;
  }
}

/** Returns whether the role has changed. */
function setRole(roles: Roles, { databaseId, principal, role }: StoredMember): boolean {
  const members = roles.get(databaseId);
  if (members === undefined) roles.set(databaseId, new Map([[principal, role]]));
  else if (members.get(principal) === role) return false;
  else members.set(principal, role);
  return true;
}

function rolesOf(members: readonly StoredMember[]): Roles {
  const roles: Roles = new Map();
  for (const member of members) setRole(roles, member);
  return roles;
}

function areSame(a: ReadonlyMap<string, Role | null>, b: ReadonlyMap<string, Role | null> | undefined): boolean {
  return a.size === b?.size && [...a].every(([principal, role]) => b.get(principal) === role);
}
