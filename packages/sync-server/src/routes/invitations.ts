import { RockpoolError } from '@rockpool/shared';
import { requireRole } from './members.ts';
import { readJsonObject } from './read-body.ts';
import type { Route } from './route.ts';

/** Limits how long an unused invitation can be abused. */
const DEFAULT_TTL_MS = 7 * 24 * 3600 * 1000;
const LONGEST_TTL_MS = 30 * 24 * 3600 * 1000;

/**
 * Creates an invitation. Body `{ role, ttlMs? }`: 7 days by default, at most 30. Answers `{ id, code, expiresAtMs }`; the
 * code works once, while its maker may manage members.
 */
export const invite: Route = {
  method: 'POST',
  path: '/databases/:databaseId/invitations',
  access: 'manage',
  answer: async ({ services, principal, databaseId, request }) => {
    const { role, ttlMs = DEFAULT_TTL_MS } = await readJsonObject(request);
    if (typeof ttlMs !== 'number' || !(ttlMs > 0 && ttlMs <= LONGEST_TTL_MS))
      throw new RockpoolError('request-invalid', { problem: 'ttlMs must be a positive number of at most 30 days' });
    const expiresAtMs = Math.ceil(services.now() + ttlMs);
    const { members } = services;
    const code = await members.invite({
      databaseId,
      role: requireRole(role),
      expiresAtMs,
      invitedBy: principal.id,
    });
    return Response.json(
      { id: members.invitationId(code), code, expiresAtMs },
      { status: 201, headers: { 'cache-control': 'no-store' } },
    );
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

/** Withdraws a pending invitation. Answers 204 also for an unknown id, as for one that was already used. */
export const withdrawInvitation: Route = {
  method: 'DELETE',
  path: '/databases/:databaseId/invitations/:invitationId',
  access: 'manage',
  answer: async ({ services, databaseId, param }) => {
    await services.members.withdraw(databaseId, param('invitationId'));
    return new Response(null, { status: 204 });
  },
};

/** Redeems an invitation for the principal of the token. Body `{ code }`. Answers `{ databaseId, role }`. */
export const acceptInvitation: Route = {
  method: 'POST',
  path: '/invitations/accept',
  access: 'principal',
  answer: async ({ services, principal, request }) => {
    const { code } = await readJsonObject(request);
    if (typeof code !== 'string') throw new RockpoolError('request-invalid', { problem: 'code must be a string' });
    const accepted = await services.members.accept(code, principal, services.now());
    return Response.json(accepted);
  },
};
