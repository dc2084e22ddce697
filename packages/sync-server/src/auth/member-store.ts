import type { Role } from './role.ts';

export interface Member {
  readonly principal: string;
  /** Null: revoked. Stands above whatever a token says. */
  readonly role: Role | null;
}

/** A member of a database. */
export interface StoredMember extends Member {
  readonly databaseId: string;
}

/** A code is known by its hash alone. */
export interface StoredInvitation {
  readonly codeHash: Uint8Array;
  readonly databaseId: string;
  readonly role: Role;
  readonly expiresMs: number;
}

/** Where members and invitations are kept. What is written lasts when the call returns, or resolves. */
export interface MemberStore {
  readAll(): readonly StoredMember[] | Promise<readonly StoredMember[]>;
  /** Those that were written a moment ago, by other instances too. */
  readRecent(): readonly StoredMember[] | Promise<readonly StoredMember[]>;
  write(member: StoredMember): void | Promise<void>;
  addInvitation(invitation: StoredInvitation): void | Promise<void>;
  /**
   * Uses up an invitation, once only however many bring it: `judge` says which role it gives to a principal who has
   * `held` (undefined: none), or throws, and the invitation stays. Returns the member; null: there is no such
   * invitation, or its time is over.
   */
  acceptInvitation(
    codeHash: Uint8Array,
    principal: string,
    nowMs: number,
    judge: (held: Role | null | undefined, offered: Role) => Role,
  ): StoredMember | null | Promise<StoredMember | null>;
  /** Forgets who may do what in a database that is gone. */
  forgetDatabase(databaseId: string): void | Promise<void>;
  close(): void;
}
