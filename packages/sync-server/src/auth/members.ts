import { createHash, randomBytes } from 'node:crypto';
import { RockpoolError } from '@rockpool/shared';
import type { Bus } from '../bus/bus.ts';
import type { Member, MemberStore, StoredMember } from './member-store.ts';
import type { Principal } from './principal.ts';
import { higherRole, roleAllows, type Operation, type Role } from './role.ts';

export interface InvitationRequest {
  readonly databaseId: string;
  readonly role: Role;
  readonly expiresAtMs: number;
}

/** Poll interval for changes by other instances that the bus did not announce. */
const POLL_INTERVAL_MS = 2_000;

export interface MembersOptions {
  readonly store: MemberStore;
  /** Null if there is one instance. */
  readonly bus: Bus | null;
  /** Called when a role has changed, at any instance. */
  readonly onChanged: () => void;
  readonly onError: (error: unknown) => void;
}

/**
 * The stored roles of principals in databases. A stored role overrides the token; the token counts only where none is
 * stored. So a role can be granted without a new token, and revoked before the old token expires.
 */
export class Members {
  private readonly options: MembersOptions;
  private readonly unsubscribe: (() => void) | undefined;
  // Cached in memory, because every message checks it: database id → principal → role.
  private readonly roles = new Map<string, Map<string, Role | null>>();
  // Pending until the members are loaded; no operation is allowed before.
  private loading: Promise<void> | null = null;
  private readonly pollTimer: NodeJS.Timeout | undefined;

  constructor(options: MembersOptions) {
    this.options = options;
    const { store, bus } = options;
    const stored = store.readAll();
    if (stored instanceof Promise) this.loading = stored.then((members) => this.rememberAll(members));
    else this.rememberAll(stored);
    // Callers of `allows` get the rejection.
    this.loading?.catch(() => undefined);
    if (bus === null) return;
    this.unsubscribe = bus.subscribe((message) => message.kind === 'members' && void this.poll());
    this.pollTimer = setInterval(() => void this.poll(), POLL_INTERVAL_MS);
    this.pollTimer.unref();
  }

  allows(principal: Principal, databaseId: string, operation: Operation): boolean | Promise<boolean> {
    if (this.loading !== null) return this.loading.then(() => this.allowsNow(principal, databaseId, operation));
    return this.allowsNow(principal, databaseId, operation);
  }

  list(databaseId: string): Member[] {
    return [...(this.roles.get(databaseId) ?? [])]
      .map(([principal, role]) => ({ principal, role }))
      .sort((a, b) => (a.principal < b.principal ? -1 : 1));
  }

  /** Sets the role of a principal. Null revokes it. */
  async setRole(databaseId: string, principal: string, role: Role | null): Promise<void> {
    const written = this.options.store.write({ databaseId, principal, role });
    // With a synchronous store the role is in effect when this returns.
    if (written instanceof Promise) await written;
    this.announce({ databaseId, principal, role });
  }

  /** Returns a code that makes its bearer a member, once. Only the hash of the code is stored. */
  async invite({ databaseId, role, expiresAtMs }: InvitationRequest): Promise<string> {
    const code = randomBytes(INVITATION_BYTES).toString('base64url');
    await this.options.store.addInvitation({
      codeHash: sha256(code),
      databaseId,
      role,
      expiresMs: Math.ceil(expiresAtMs),
    });
    return code;
  }

  /**
   * Makes the principal a member. Throws `invitation-invalid`, without distinguishing unknown, used and expired codes,
   * and `auth-forbidden` for a revoked principal, whom only an owner can admit again.
   */
  async accept(
    code: string,
    { id }: Principal,
    nowMs: number,
  ): Promise<{ readonly databaseId: string; readonly role: Role | null }> {
    const member = await this.options.store.acceptInvitation(sha256(code), id, nowMs, (held, offered) => {
      if (held === null) throw new RockpoolError('auth-forbidden');
      return held === undefined ? offered : higherRole(held, offered);
    });
    if (member === null) throw new RockpoolError('invitation-invalid');
    this.announce(member);
    return { databaseId: member.databaseId, role: member.role };
  }

  close(): void {
    this.unsubscribe?.();
    clearInterval(this.pollTimer);
    this.options.store.close();
  }

  private allowsNow(
    { id, databases = [], role = 'viewer' }: Principal,
    databaseId: string,
    operation: Operation,
  ): boolean {
    const stored = this.roles.get(databaseId)?.get(id);
    return roleAllows(stored === undefined ? (databases.includes(databaseId) ? role : null) : stored, operation);
  }

  private announce(member: StoredMember): void {
    this.remember(member);
    this.options.onChanged();
    this.options.bus?.publish({ kind: 'members', databaseId: member.databaseId });
  }

  /** Loads what other instances have changed. */
  private async poll(): Promise<void> {
    try {
      const recent = await this.options.store.readRecent();
      const isUpdate = recent.some(
        ({ databaseId, principal, role }) => this.roles.get(databaseId)?.get(principal) !== role,
      );
      for (const member of recent) this.remember(member);
      if (isUpdate) this.options.onChanged();
    } catch (error) {
      this.options.onError(error);
    }
  }

  private rememberAll(members: readonly StoredMember[]): void {
    for (const member of members) this.remember(member);
    this.loading = null;
  }

  private remember({ databaseId, principal, role }: StoredMember): void {
    const members = this.roles.get(databaseId) ?? new Map<string, Role | null>();
    this.roles.set(databaseId, members.set(principal, role));
  }
}

// As strong as a signing secret, because the code alone grants access.
const INVITATION_BYTES = 32;

function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
