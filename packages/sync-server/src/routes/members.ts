import { RockpoolError } from '@rockpool/shared';
import { MAX_PRINCIPAL_LENGTH } from '../auth/jwt.ts';
import { isRole, type Role } from '../auth/role.ts';
import { readJsonObject } from './read-body.ts';
import type { Route } from './route.ts';

/** `[{ principal, role }]`, of those whose role is stored here; `role: null` is somebody revoked. */
export const listMembers: Route = {
  method: 'GET',
  path: '/databases/:databaseId/members',
  access: 'manage',
  answer: ({ services, databaseId }) => Response.json(services.members.list(databaseId)),
};

/** Body `{ role }`. Holds at once, also for sessions that are open, and whatever the member's token says. */
export const setMember: Route = {
  method: 'PUT',
  path: '/databases/:databaseId/members/:principal',
  access: 'manage',
  answer: async ({ services, databaseId, param, request }) => {
    const role = requireRole((await readJsonObject(request))['role']);
    await services.members.setRole(databaseId, requirePrincipal(param('principal')), role);
    return new Response(null, { status: 204 });
  },
};

/** Revokes: what the member has on its device stays there, and nothing more comes or goes. */
export const revokeMember: Route = {
  method: 'DELETE',
  path: '/databases/:databaseId/members/:principal',
  access: 'manage',
  answer: async ({ services, databaseId, param }) => {
    await services.members.setRole(databaseId, requirePrincipal(param('principal')), null);
    return new Response(null, { status: 204 });
  },
};

export function requireRole(role: unknown): Role {
  if (!isRole(role)) throw new RockpoolError('request-invalid', { problem: 'role is owner, editor or viewer' });
  return role;
}

function requirePrincipal(text: string): string {
  if (text.length > MAX_PRINCIPAL_LENGTH)
    throw new RockpoolError('request-invalid', { problem: 'the principal is too long' });
  return text;
}
