import { RockpoolError } from '@rockpool/shared';
import { requireRole } from './members.ts';
import { readJsonObject } from './read-body.ts';
import { logChange, type Route } from './route.ts';

/** Limits how long an unused invitation can be abused. */
const DEFAULT_TTL_MS = 7 * 24 * 3600 * 1000;
const LONGEST_TTL_MS = 30 * 24 * 3600 * 1000;

/**
 * Creates an invitation. The body is `{ role, ttlMs? }`: 7 days by default, at most 30. Responds with
 * `{ id, code, expiresAtMs }`; the code works once, as long as its creator may manage members.
 */
export const invite: Route = {
  method: 'POST',
  path: '/databases/:databaseId/invitations',
  access: 'manage',
  answer: async (asked) => {
    const { services, principal, databaseId, request } = asked;
    const { role, ttlMs = DEFAULT_TTL_MS } = await readJsonObject(request);
    if (typeof ttlMs !== 'number' || !(ttlMs > 0 && ttlMs <= LONGEST_TTL_MS))
      throw new RockpoolError('request-invalid', { problem: '`ttlMs` must be a positive number, at most 30 days' });
    const expiresAtMs = Math.ceil(services.now() + ttlMs);
    const { members } = services;
    const invited = requireRole(role);
    const code = await members.invite({ databaseId, role: invited, expiresAtMs, invitedBy: principal.id });
    const id = members.invitationId(code);
    logChange(asked, 'invitation-created', { invitation: id, role: invited });
    return Response.json({ id, code, expiresAtMs }, { status: 201, headers: { 'cache-control': 'no-store' } });
  },
};

/** Lists the pending invitations as `[{ id, role, expiresAtMs, invitedBy }]`. Codes are not stored. */
export const listInvitations: Route = {
  method: 'GET',
  path: '/databases/:databaseId/invitations',
  access: 'manage',
  answer: async ({ services, databaseId }) =>
    Response.json(await services.members.invitations(databaseId), { headers: { 'cache-control': 'no-store' } }),
};

/** Withdraws a pending invitation. Responds with 204 for an unknown or used id, too. */
export const withdrawInvitation: Route = {
  method: 'DELETE',
  path: '/databases/:databaseId/invitations/:invitationId',
  access: 'manage',
  answer: async (asked) => {
    const { services, databaseId, param } = asked;
    await services.members.withdraw(databaseId, param('invitationId'));
    logChange(asked, 'invitation-withdrawn', { invitation: param('invitationId') });
    return new Response(null, { status: 204 });
  },
};

/**
 * Redeems an invitation for the principal of the token. Body `{ code }`. Responds with `{ databaseId, role }`, also
 * when a member repeats the last acceptance.
 */
export const acceptInvitation: Route = {
  method: 'POST',
  path: '/invitations/accept',
  access: 'principal',
  answer: async (asked) => {
    const { services, principal, request } = asked;
    const { code } = await readJsonObject(request);
    if (typeof code !== 'string') throw new RockpoolError('request-invalid', { problem: '`code` must be a string' });
    const accepted = await services.members.accept(code, principal, services.now());
    logChange({ ...asked, databaseId: accepted.databaseId }, 'invitation-accepted', {
      invitation: services.members.invitationId(code),
      role: accepted.role,
    });
    return Response.json(accepted);
  },
};
