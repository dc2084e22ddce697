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

/** What another instance has changed is found this late at most, where the bus did not tell. */
const LOOK_INTERVAL_MS = 2_000;

export interface MembersOptions {
  readonly store: MemberStore;
  /** Null: there is one instance. */
  readonly bus: Bus | null;
  /** Somebody's rights have changed, by whichever instance. */
  readonly onChanged: () => void;
  readonly onError: (error: unknown) => void;
}

/**
 * Who may do what in which database, beyond what tokens say by themselves. What stands here decides; only where nothing
 * does, the token counts. So a role can be given without a new token, and taken away before the old one expires.
 */
export class Members {
  private readonly options: MembersOptions;
  private readonly unsubscribe: (() => void) | undefined;
  // Asked at every message, so it is held in memory: "database id" → principal → role.
  private readonly roles = new Map<string, Map<string, Role | null>>();
  // Until they are read nobody is let in.
  private reading: Promise<void> | null = null;
  private readonly looking: NodeJS.Timeout | undefined;

  constructor(options: MembersOptions) {
    this.options = options;
    const { store, bus } = options;
    const stored = store.readAll();
    if (stored instanceof Promise) this.reading = stored.then((members) => this.rememberAll(members));
    else this.rememberAll(stored);
    // Whoever asks hears of it.
    this.reading?.catch(() => undefined);
    if (bus === null) return;
    this.unsubscribe = bus.subscribe((message) => message.kind === 'members' && void this.look());
    this.looking = setInterval(() => void this.look(), LOOK_INTERVAL_MS);
    this.looking.unref();
  }

  allows(principal: Principal, databaseId: string, operation: Operation): boolean | Promise<boolean> {
    if (this.reading !== null) return this.reading.then(() => this.allowsNow(principal, databaseId, operation));
    return this.allowsNow(principal, databaseId, operation);
  }

  list(databaseId: string): Member[] {
    return [...(this.roles.get(databaseId) ?? [])]
      .map(([principal, role]) => ({ principal, role }))
      .sort((a, b) => (a.principal < b.principal ? -1 : 1));
  }

  /** Null revokes. */
  async setRole(databaseId: string, principal: string, role: Role | null): Promise<void> {
    const written = this.options.store.write({ databaseId, principal, role });
    // Where nothing has to be waited for, it holds when this returns.
    if (written instanceof Promise) await written;
    this.changed({ databaseId, principal, role });
  }

  /** A code that opens the database once, to whoever brings it. Only its hash is kept. */
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
   * Makes the principal a member. Throws `invitation-invalid`, the same for a code that never was, was used or has
   * expired; `auth-forbidden` for somebody who was revoked: only an owner lets them in again.
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
    this.changed(member);
    return { databaseId: member.databaseId, role: member.role };
  }

  close(): void {
    this.unsubscribe?.();
    clearInterval(this.looking);
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

  private changed(member: StoredMember): void {
    this.remember(member);
    this.options.onChanged();
    this.options.bus?.publish({ kind: 'members', databaseId: member.databaseId });
  }

  /** At what other instances have changed. */
  private async look(): Promise<void> {
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
    this.reading = null;
  }

  private remember({ databaseId, principal, role }: StoredMember): void {
    const members = this.roles.get(databaseId) ?? new Map<string, Role | null>();
    this.roles.set(databaseId, members.set(principal, role));
  }
}

// As strong as a signing secret: whoever holds a code needs nothing else.
const INVITATION_BYTES = 32;

function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
