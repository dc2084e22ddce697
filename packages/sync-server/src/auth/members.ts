import { createHash, randomBytes } from 'node:crypto';
import { RockpoolError } from '@rockpool/shared';
import type { Bus } from '../bus/bus.ts';
import {
  EVERY_DATABASE,
  invitationId,
  readmitted,
  revokedEverywhere,
  type Invitation,
  type JudgeAcceptance,
  type Member,
  type MemberStore,
  type StoredMember,
} from './member-store.ts';
import { isDatabaseId } from './gate.ts';
import { isPrincipalId, PRINCIPAL_PROBLEM } from './jwt.ts';
import type { Principal } from './principal.ts';
import { RoleCache } from './role-cache.ts';
import { higherRole, isRole, roleAllows, ROLES, type Operation, type Role } from './role.ts';

export interface InvitationRequest {
  readonly databaseId: string;
  readonly role: Role;
  readonly expiresAtMs: number;
  /**
   * The principal who invites. The invitation becomes invalid when they lose the right to manage members. Default: the
   * server's program.
   */
  readonly invitedBy?: string;
}

/** Limits of one database, so that no member can exhaust the server's memory or disk. */
export interface MemberLimits {
  /** The maximum number of pending invitations. Further invitations throw `quota-exceeded`. Default: 500. */
  readonly maxInvitations: number;
  /**
   * The maximum number of stored roles, including those of revoked members. Further roles throw `quota-exceeded`. All
   * roles are held in memory, at 200 bytes each. Default: 10,000.
   */
  readonly maxMembers: number;
}

/** A school invites a few hundred people in a week. */
export const MEMBER_LIMITS: MemberLimits = { maxInvitations: 500, maxMembers: 10_000 };

/** The members and invitations of databases, for the program that runs the server. */
export interface ServerMembers {
  /** Lists the stored roles in a database, also of revoked members, sorted by principal. */
  list(databaseId: string): Member[];
  /**
   * Sets the role of a principal. Null revokes it. Invitations of a principal who may no longer manage members end.
   * Throws `quota-exceeded`, and `config-invalid` with every problem of the arguments, as do the other calls.
   */
  setRole(databaseId: string, principal: string, role: Role | null): Promise<void>;
  /**
   * Revokes a principal in every database, including future ones, whatever roles their tokens and members have. Ends
   * their sessions and invitations.
   */
  revokeEverywhere(principal: string): Promise<void>;
  /** Reverts `revokeEverywhere`. The principal has its roles in each database again. */
  readmit(principal: string): Promise<void>;
  /**
   * Returns a code that makes its bearer a member, once. Only the hash of the code is stored. Throws `quota-exceeded`
   * if the database has too many pending invitations.
   */
  invite(request: InvitationRequest): Promise<string>;
  /** Returns the pending invitations of a database, the first to expire first. */
  invitations(databaseId: string): Promise<readonly Invitation[]>;
  /** Deletes a pending invitation. Resolves with false if the database has none with this id. */
  withdraw(databaseId: string, id: string): Promise<boolean>;
}

export interface MembersOptions {
  readonly store: MemberStore;
  /** Null if there is one instance. */
  readonly bus: Bus | null;
  /** Called when a role in this database, or in EVERY_DATABASE, has changed, at any instance. */
  readonly onChanged: (databaseId: string) => void;
  readonly onError: (error: unknown) => void;
  readonly now: () => number;
  readonly limits?: MemberLimits;
  /** Default: half a second. */
  readonly loadAgainMs?: number;
}

/**
 * The stored roles of principals in databases. A stored role overrides the token; the token counts only where none is
 * stored. So a role can be granted without a new token, and revoked before the old token expires, in one database or in
 * every one.
 */
export class Members implements ServerMembers {
  private readonly options: MembersOptions;
  private readonly unsubscribe: (() => void) | undefined;
  private readonly roles: RoleCache;

  constructor(options: MembersOptions) {
    this.options = options;
    this.roles = new RoleCache(options);
    this.unsubscribe = options.bus?.subscribe('members', ({ databaseId }) => this.roles.follow(databaseId));
  }

  /** Until the roles are loaded, no operation is allowed. */
  allows(principal: Principal, databaseId: string, operation: Operation): boolean | Promise<boolean> {
    const { loading } = this.roles;
    if (loading !== null) return loading.then(() => this.allows(principal, databaseId, operation));
    const mayRead = this.allowsNow(principal, databaseId, 'read');
    const lookUp = mayRead ? null : this.roles.lookUp(databaseId, principal.id);
    if (lookUp !== null)
      return lookUp.then(
        () => this.allowsNow(principal, databaseId, operation),
        (error: unknown) => {
          if (this.isRevoked(principal, databaseId)) return false;
          throw error;
        },
      );
    return this.allowsNow(principal, databaseId, operation);
  }

  list(databaseId: string): Member[] {
    return [...this.roles.rolesIn(databaseId)]
      .map(([principal, role]) => ({ principal, role }))
      .sort((a, b) => (a.principal < b.principal ? -1 : 1));
  }

  async setRole(databaseId: string, principal: string, role: Role | null): Promise<void> {
    const isValidRole = role === null || isRole(role);
    requireNoProblems([
      ...databaseProblems(databaseId),
      ...principalProblems(principal),
      ...(isValidRole ? [] : [`${ROLE_PROBLEM}, or null`]),
    ]);
    this.requireRoom(databaseId, principal);
    await this.write({ databaseId, principal, role });
  }

  async revokeEverywhere(principal: string): Promise<void> {
    requireNoProblems(principalProblems(principal));
    await this.write(revokedEverywhere(principal));
  }

  async readmit(principal: string): Promise<void> {
    requireNoProblems(principalProblems(principal));
    await this.write(readmitted(principal));
  }

  async invite({ databaseId, role, expiresAtMs, invitedBy }: InvitationRequest): Promise<string> {
    requireNoProblems([
      ...databaseProblems(databaseId),
      ...(isRole(role) ? [] : [ROLE_PROBLEM]),
      ...(Number.isFinite(expiresAtMs) ? [] : ['expiresAtMs: must be a time in ms since 1970']),
    ]);
    const code = randomBytes(INVITATION_BYTES).toString('base64url');
    const { store, now, limits: { maxInvitations } = MEMBER_LIMITS } = this.options;
    const invitation = {
      codeHash: sha256(code),
      databaseId,
      role,
      expiresMs: Math.ceil(expiresAtMs),
      invitedBy: invitedBy ?? null,
    };
    if (!(await store.addInvitation(invitation, maxInvitations, now())))
      throw new RockpoolError('quota-exceeded', { quota: 'invitations', limit: maxInvitations });
    return code;
  }

  /** Returns the id of the invitation with this code, as `withdraw` takes it. */
  invitationId(code: string): string {
    return invitationId(sha256(code));
  }

  async invitations(databaseId: string): Promise<readonly Invitation[]> {
    return this.options.store.invitations(databaseId, this.options.now());
  }

  async withdraw(databaseId: string, id: string): Promise<boolean> {
    return this.options.store.withdrawInvitation(databaseId, id);
  }

  /**
   * Makes the principal a member. A member may repeat the last acceptance, because the response may have been lost.
   * Stores nothing, and keeps the invitation, if no role is stored and the token grants the offered role or a higher
   * one: a stored role would override the token. Throws `invitation-invalid`, without distinguishing unknown, used,
   * withdrawn and expired codes, `auth-forbidden` for a revoked principal, which only an owner can readmit, and
   * `quota-exceeded`.
   */
  async accept(
    code: string,
    { id, databases = [], role = 'viewer' }: Principal,
    nowMs: number,
  ): Promise<{ readonly databaseId: string; readonly role: Role | null }> {
    const byToken: { databaseId?: string } = {};
    const judge: JudgeAcceptance = (databaseId, held, offered) => {
      if (held === null) throw new RockpoolError('auth-forbidden');
      if (held === undefined && databases.includes(databaseId) && higherRole(role, offered) === role) {
        byToken.databaseId = databaseId;
        throw new RockpoolError('invitation-invalid');
      }
      this.requireRoom(databaseId, id);
      return held === undefined ? offered : higherRole(held, offered);
    };
    try {
      const member = await this.options.store.acceptInvitation(sha256(code), id, nowMs, judge);
      if (member === null) throw new RockpoolError('invitation-invalid');
      this.stored(member);
      return { databaseId: member.databaseId, role: member.role };
    } catch (error) {
      if (byToken.databaseId === undefined) throw error;
      return { databaseId: byToken.databaseId, role };
    }
  }

  /**
   * Deletes the members and invitations of a deleted database. Its sessions at every instance lose the rights that
   * stored roles gave them.
   */
  forgetDatabase(databaseId: string): void | Promise<void> {
    const forgotten = this.options.store.forgetDatabase(databaseId);
    return forgotten instanceof Promise ? forgotten.then(() => this.forgotten(databaseId)) : this.forgotten(databaseId);
  }

  /** Updates the roles after a job has deleted a database with its members and invitations. See forgetDatabase. */
  forgotten(databaseId: string): void {
    this.roles.delete(databaseId);
    this.announce(databaseId);
  }

  close(): void {
    this.unsubscribe?.();
    this.roles.close();
    this.options.store.close();
  }

  private isRevoked({ id }: Principal, databaseId: string): boolean {
    return [databaseId, EVERY_DATABASE].some((where) => this.roles.roleOf(where, id) === null);
  }

  private allowsNow(
    { id, databases = [], role = 'viewer' }: Principal,
    databaseId: string,
    operation: Operation,
  ): boolean {
    if (this.roles.roleOf(EVERY_DATABASE, id) === null) return false;
    const stored = this.roles.roleOf(databaseId, id);
    return roleAllows(stored === undefined ? (databases.includes(databaseId) ? role : null) : stored, operation);
  }

  private requireRoom(databaseId: string, principal: string): void {
    const members = this.roles.rolesIn(databaseId);
    const { maxMembers } = this.options.limits ?? MEMBER_LIMITS;
    if (members.size >= maxMembers && !members.has(principal))
      throw new RockpoolError('quota-exceeded', { quota: 'members', limit: maxMembers });
  }

  private async write(member: StoredMember): Promise<void> {
    const written = this.options.store.write(member);
    // With a synchronous store the role is in effect when this returns.
    if (written instanceof Promise) await written;
    this.stored(member);
  }

  /**
   * A role that was written again changes no rights here: checking them would never end if the host's `authorize`
   * writes one. Other instances may have another role.
   */
  private stored(member: StoredMember): void {
    if (this.roles.set(member)) this.options.onChanged(member.databaseId);
    this.options.bus?.publish({ kind: 'members', databaseId: member.databaseId });
  }

  private announce(databaseId: string): void {
    this.options.onChanged(databaseId);
    this.options.bus?.publish({ kind: 'members', databaseId });
  }
}

const ROLE_PROBLEM = `role: must be one of ${ROLES.join(', ')}`;

function databaseProblems(databaseId: string): string[] {
  return isDatabaseId(databaseId) ? [] : ['databaseId: must be 1 to 64 letters, digits, _ and -'];
}

function principalProblems(principal: string): string[] {
  return isPrincipalId(principal) ? [] : [`principal: ${PRINCIPAL_PROBLEM}`];
}

/** A stored role or principal that is none would revoke a member, or fail each check of its rights. */
function requireNoProblems(problems: readonly string[]): void {
  if (problems.length > 0)
    throw new RockpoolError('config-invalid', { count: problems.length, problems: problems.join('\n') });
}

// The code must be as strong as a signing secret, because it alone grants access.
const INVITATION_BYTES = 32;

function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
