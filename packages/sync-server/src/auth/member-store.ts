import { isRole, type Role } from './role.ts';

export interface Member {
  readonly principal: string;
  /** Overrides the role in a token. Null if the member is revoked. */
  readonly role: Role | null;
}

/** A member of a database. */
export interface StoredMember extends Member {
  readonly databaseId: string;
}

/** `row`: database id, principal and role. */
export function toStoredMember([databaseId, principal, role]: readonly unknown[]): StoredMember {
  return { databaseId: databaseId as string, principal: principal as string, role: isRole(role) ? role : null };
}

/**
 * Stands for every database, including future ones. A null role under this id revokes the principal in all of them,
 * whatever other roles are stored. Any other role under it has no effect.
 */
export const EVERY_DATABASE = '*';

/** The role that revokes a principal everywhere. */
export function revokedEverywhere(principal: string): StoredMember {
  return { databaseId: EVERY_DATABASE, principal, role: null };
}

/** The role that reverts such a revocation: any role but null. It grants nothing. */
export function readmitted(principal: string): StoredMember {
  return { databaseId: EVERY_DATABASE, principal, role: 'owner' };
}

/** An invitation; only the hash of its code is stored. */
export interface StoredInvitation {
  readonly codeHash: Uint8Array;
  readonly databaseId: string;
  readonly role: Role;
  readonly expiresMs: number;
  /**
   * The principal who created it. Null if the program that runs the server or an earlier version created it, which did
   * not store the creator.
   */
  readonly invitedBy: string | null;
}

/** A pending invitation, without anything that its code could be computed from. */
export interface Invitation {
  /** The id by which the invitation is withdrawn. */
  readonly id: string;
  readonly role: Role;
  readonly expiresAtMs: number;
  readonly invitedBy: string | null;
}

const INVITATION_ID_BYTES = 8;

/** The id of an invitation: a prefix of the hash of its code, which does not reveal the code. */
export function invitationId(codeHash: Uint8Array): string {
  return Buffer.from(codeHash.subarray(0, INVITATION_ID_BYTES)).toString('hex');
}

/** Returns the role of a principal with the current role `held` (undefined: not a member), or throws. */
export type JudgeAcceptance = (databaseId: string, held: Role | null | undefined, offered: Role) => Role;

export interface RecentMembers {
  /** Members that were added or changed, and possibly others. */
  readonly members: readonly StoredMember[];
  /**
   * The number of stored members of all databases. If it is lower than the number that a caller knows, some were
   * deleted.
   */
  readonly count: number;
}

/** Stores members and invitations. Writes are durable when the call returns or resolves. */
export interface MemberStore {
  readAll(): readonly StoredMember[] | Promise<readonly StoredMember[]>;
  /**
   * Returns what another instance or the command may have changed since `readAll` or `readRecent` last succeeded. Null
   * if nothing has changed.
   */
  readRecent(): RecentMembers | null | Promise<RecentMembers | null>;
  /**
   * Returns up to `limit` members of all databases, in the order of the store's keys, beginning after `after`, or with
   * the first one.
   */
  readPage(after: StoredMember | null, limit: number): readonly StoredMember[] | Promise<readonly StoredMember[]>;
  /** Returns the members among these that are stored. */
  readMembers(
    sought: readonly Pick<StoredMember, 'databaseId' | 'principal'>[],
  ): readonly StoredMember[] | Promise<readonly StoredMember[]>;
  readDatabase(databaseId: string): readonly StoredMember[] | Promise<readonly StoredMember[]>;
  /**
   * Sets a role. A principal who may no longer manage members loses the invitations that they created, in every
   * database if the role is that of EVERY_DATABASE.
   */
  write(member: StoredMember): void | Promise<void>;
  /** Adds an invitation, unless the database has `maxPending` that have not expired. Returns whether it was added. */
  addInvitation(invitation: StoredInvitation, maxPending: number, nowMs: number): boolean | Promise<boolean>;
  /** Returns the invitations that have not expired, the first to expire first. */
  invitations(databaseId: string, nowMs: number): readonly Invitation[] | Promise<readonly Invitation[]>;
  /** Deletes an invitation. Returns whether it existed. */
  withdrawInvitation(databaseId: string, id: string): boolean | Promise<boolean>;
  /**
   * Redeems an invitation, which works for one principal, even for concurrent calls. If `judge` throws, the invitation
   * stays. Returns the member, or null if the invitation does not exist, has expired, or was created by a principal who
   * may no longer manage members. Of the invitations that a member accepted, the store keeps the code of the last one:
   * a call that repeats it returns the member as stored, without `judge`, or null if the member is revoked.
   */
  acceptInvitation(
    codeHash: Uint8Array,
    principal: string,
    nowMs: number,
    judge: JudgeAcceptance,
  ): StoredMember | null | Promise<StoredMember | null>;
  /** Deletes the members and invitations of a deleted database. */
  forgetDatabase(databaseId: string): void | Promise<void>;
  close(): void;
}
