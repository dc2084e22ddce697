import { RockpoolError } from '@rockpool/shared';
import { isPrincipalId, PRINCIPAL_PROBLEM } from '../auth/jwt.ts';
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

export function requirePrincipal(text: string): string {
  if (!isPrincipalId(text))
    throw new RockpoolError('request-invalid', { problem: `the principal ${PRINCIPAL_PROBLEM}` });
  return text;
}
