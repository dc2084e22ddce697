import { RockpoolError } from '@rockpool/shared';

/** A request that conflicts with the state of a database. Nothing was changed. */
export class AdminRefusal extends Error {
  readonly status: 404 | 409;
  readonly error: RockpoolError;

  constructor(status: 404 | 409, error: RockpoolError) {
    super(error.message);
    this.status = status;
    this.error = error;
  }
}

export function missing(databaseId: string): AdminRefusal {
  return new AdminRefusal(404, new RockpoolError('storage-missing', { database: databaseId }));
}

export function conflict(problem: string): AdminRefusal {
  return new AdminRefusal(409, new RockpoolError('request-invalid', { problem }));
}
