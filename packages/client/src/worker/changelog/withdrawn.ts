/** The reason of a changeset that the user has withdrawn from the outbox: see sync/withdrawals.ts. */
export const WITHDRAWN = 'changeset-withdrawn';
