/** What somebody is in one database. */
export type Role = 'owner' | 'editor' | 'viewer';

/** What somebody wants to do in one database. `manage`: say who may do what. */
export type Operation = 'read' | 'write' | 'manage';

const OPERATIONS: Readonly<Record<Role, readonly Operation[]>> = {
  owner: ['read', 'write', 'manage'],
  editor: ['read', 'write'],
  viewer: ['read'],
};

/** From most to least. */
export const ROLES: readonly Role[] = ['owner', 'editor', 'viewer'];

export function isRole(value: unknown): value is Role {
  return ROLES.includes(value as Role);
}

export function roleAllows(role: Role | null, operation: Operation): boolean {
  return role !== null && OPERATIONS[role].includes(operation);
}

/** Of two roles the one that may do more. */
export function higherRole(a: Role, b: Role): Role {
  return ROLES.indexOf(a) <= ROLES.indexOf(b) ? a : b;
}
