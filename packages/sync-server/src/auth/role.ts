/** A principal's role in one database. */
export type Role = 'owner' | 'editor' | 'viewer';

/** An operation that a principal requests in one database. `manage`: change members and invitations. */
export type Operation = 'read' | 'write' | 'manage';

const OPERATIONS: Readonly<Record<Role, readonly Operation[]>> = {
  owner: ['read', 'write', 'manage'],
  editor: ['read', 'write'],
  viewer: ['read'],
};

/** The operation that this role and higher ones may do. */
export function operationOf(role: Role): Operation {
  return OPERATIONS[role].at(-1) as Operation;
}

/** All roles, from the most to the fewest rights. */
export const ROLES: readonly Role[] = ['owner', 'editor', 'viewer'];

export function isRole(value: unknown): value is Role {
  return ROLES.includes(value as Role);
}

export function roleAllows(role: Role | null, operation: Operation): boolean {
  return role !== null && OPERATIONS[role].includes(operation);
}

/** Returns the role with more rights. */
export function higherRole(a: Role, b: Role): Role {
  return ROLES.indexOf(a) <= ROLES.indexOf(b) ? a : b;
}
