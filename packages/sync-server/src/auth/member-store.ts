import type { Role } from './role.ts';

export interface Member {
  readonly principal: string;
  /** Overrides the role in a token. Null: revoked. */
  readonly role: Role | null;
}

/** A member of a database. */
export interface StoredMember extends Member {
  readonly databaseId: string;
}

/** An invitation; only the hash of its code is stored. */
export interface StoredInvitation {
  readonly codeHash: Uint8Array;
  readonly databaseId: string;
  readonly role: Role;
  readonly expiresMs: number;
}

/** Stores members and invitations. Writes are durable when the call returns or resolves. */
export interface MemberStore {
  readAll(): readonly StoredMember[] | Promise<readonly StoredMember[]>;
  /** Returns members that were written recently, by any instance. */
  readRecent(): readonly StoredMember[] | Promise<readonly StoredMember[]>;
  write(member: StoredMember): void | Promise<void>;
  addInvitation(invitation: StoredInvitation): void | Promise<void>;
  /**
   * Redeems an invitation, which works once, even for concurrent calls. `judge` returns the role for a principal whose
   * current role is `held` (undefined: not a member), or throws, which keeps the invitation. Returns the member, or
   * null if the invitation does not exist or has expired.
   */
  acceptInvitation(
    codeHash: Uint8Array,
    principal: string,
    nowMs: number,
    judge: (held: Role | null | undefined, offered: Role) => Role,
  ): StoredMember | null | Promise<StoredMember | null>;
  /** Deletes the members and invitations of a deleted database. */
  forgetDatabase(databaseId: string): void | Promise<void>;
  close(): void;
}
