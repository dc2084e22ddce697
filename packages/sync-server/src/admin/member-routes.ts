import { RockpoolError } from '@rockpool/shared';
import { requirePrincipal, requireRole } from '../routes/members.ts';
import { readJsonObject } from '../routes/read-body.ts';
import { AdminRefusal } from './admin-refusal.ts';
import type { AdminRoute } from './admin-route.ts';

/** Sets the role of a member: `{ role }`. Applies at once, also to open sessions. */
export const setMember: AdminRoute = {
  method: 'PUT',
  path: '/databases/:databaseId/members/:principal',
  answer: async ({ services, databaseId, param, request, note }) => {
    const role = requireRole((await readJsonObject(request))['role']);
    const member = requirePrincipal(param('principal'));
    await services.members.setRole(databaseId, member, role);
    note({ did: 'member-set', member, role });
    return new Response(null, { status: 204 });
  },
};

/** Revokes a member, whatever role their token has. Their sessions end at once. */
export const revokeMember: AdminRoute = {
  method: 'DELETE',
  path: '/databases/:databaseId/members/:principal',
  answer: async ({ services, databaseId, param, note }) => {
    const member = requirePrincipal(param('principal'));
    await services.members.setRole(databaseId, member, null);
    note({ did: 'member-revoked', member });
    return new Response(null, { status: 204 });
  },
};

/** Withdraws a pending invitation. */
export const withdrawInvitation: AdminRoute = {
  method: 'DELETE',
  path: '/databases/:databaseId/invitations/:invitation',
  answer: async ({ services, databaseId, param, note }) => {
    const invitation = param('invitation');
    if (!(await services.members.withdraw(databaseId, invitation)))
      throw new AdminRefusal(404, new RockpoolError('invitation-invalid'));
    note({ did: 'invitation-withdrawn', invitation });
    return new Response(null, { status: 204 });
  },
};

/** Revokes a principal in every database, including future ones. */
export const revokeEverywhere: AdminRoute = {
  method: 'PUT',
  path: '/revoked/:principal',
  answer: async ({ services, param, note }) => {
    const principal = requirePrincipal(param('principal'));
    await services.members.revokeEverywhere(principal);
    note({ did: 'revoked-everywhere', principal });
    return new Response(null, { status: 204 });
  },
};

/** Readmits a principal that was revoked everywhere. */
export const readmit: AdminRoute = {
  method: 'DELETE',
  path: '/revoked/:principal',
  answer: async ({ services, param, note }) => {
    const principal = requirePrincipal(param('principal'));
    await services.members.readmit(principal);
    note({ did: 'readmitted', principal });
    return new Response(null, { status: 204 });
  },
};
