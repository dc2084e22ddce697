import { operatorTokenProblem } from './operator-token.ts';

/** The settings of the admin API and page, which are off unless these settings are given. */
export interface AdminAccess {
  /** The bearer token that every request must send: at least 32 characters. It is not a member's token. */
  readonly token: string;
  /** The largest database file that an import accepts. Default 64 GiB. */
  readonly maxImportBytes?: number;
}

/** The token must be as strong as a signing secret, because it opens every database. */
const MIN_TOKEN_LENGTH = 32;

/** Returns the problem of the admin token, or null. */
export function adminTokenProblem(token: string): string | null {
  return operatorTokenProblem('the admin API', token, MIN_TOKEN_LENGTH);
}
