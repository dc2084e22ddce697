import { RockpoolError } from '@rockpool/shared';
import { MAX_PRINCIPAL_LENGTH } from '../auth/jwt.ts';
import { isRole, type Role } from '../auth/role.ts';
import { readJsonObject } from './read-body.ts';
import { logChange, type Route } from './route.ts';

/** Lists the stored members as `[{ principal, role }]`; `role: null` is a revoked member. */
export const listMembers: Route = {
  method: 'GET',
  path: '/databases/:databaseId/members',
  access: 'manage',
  answer: ({ services, databaseId }) => Response.json(services.members.list(databaseId)),
};

/**
 * Sets the role of a member. Body `{ role }`. Takes effect at once, also in open sessions, and overrides the member's
 * token.
 */
export const setMember: Route = {
  method: 'PUT',
  path: '/databases/:databaseId/members/:principal',
  access: 'manage',
  answer: async (asked) => {
    const { services, databaseId, param, request } = asked;
    const role = requireRole((await readJsonObject(request))['role']);
    const member = requirePrincipal(param('principal'));
    await services.members.setRole(databaseId, member, role);
    logChange(asked, 'member-set', { member, role });
    return new Response(null, { status: 204 });
  },
};

/** Revokes a member. The data stays on the member's devices, but no longer syncs. */
export const revokeMember: Route = {
  method: 'DELETE',
  path: '/databases/:databaseId/members/:principal',
  access: 'manage',
  answer: async (asked) => {
    const { services, databaseId, param } = asked;
    const member = requirePrincipal(param('principal'));
    await services.members.setRole(databaseId, member, null);
    logChange(asked, 'member-revoked', { member });
    return new Response(null, { status: 204 });
  },
};

export function requireRole(role: unknown): Role {
  if (!isRole(role)) throw new RockpoolError('request-invalid', { problem: '`role` must be owner, editor or viewer' });
  return role;
}

function requirePrincipal(text: string): string {
  if (text.length > MAX_PRINCIPAL_LENGTH)
    throw new RockpoolError('request-invalid', { problem: 'the principal is too long' });
  return text;
}
