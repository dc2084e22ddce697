import { RockpoolError, type ErrorCode } from '@rockpool/shared';
import { errorFields, type Logger } from '../observe/log-line.ts';
import { isDatabaseId } from './database-id.ts';
import type { Authenticate, Authorize, Principal } from './principal.ts';
import type { Operation } from './role.ts';

export interface GateOptions {
  readonly authenticate: Authenticate;
  readonly authorize: Authorize;
  readonly now: () => number;
  readonly log: Logger;
}

/**
 * Where every message and every request passes: who is it, and may they. What a host's own checks throw never gets
 * further than here.
 */
export class Gate {
  private readonly options: GateOptions;

  constructor(options: GateOptions) {
    this.options = options;
  }

  /** Throws `auth-token-expired`, `auth-token-invalid` or `auth-unavailable`. */
  async authenticate(token: string): Promise<Principal> {
    try {
      const principal = await this.options.authenticate(token);
      if (principal.expiresAtMs <= this.options.now()) throw new RockpoolError('auth-token-expired');
      return principal;
    } catch (error) {
      if (error instanceof RockpoolError) throw error;
      this.options.log('authenticate-error', errorFields(error));
      throw new RockpoolError('auth-token-invalid');
    }
  }

  /** At once where the host's check is: then nothing comes between a message and its effect. */
  allows(principal: Principal, databaseId: string, operation: Operation): boolean | Promise<boolean> {
    if (!isDatabaseId(databaseId)) return false;
    try {
      const answer = this.options.authorize(principal, databaseId, operation);
      return typeof answer === 'boolean' ? answer : answer.catch((error: unknown) => this.refuse(error));
    } catch (error) {
      return this.refuse(error);
    }
  }

  /** Throws the refusal of the operation. */
  async require(principal: Principal, databaseId: string, operation: Operation): Promise<void> {
    if (!(await this.allows(principal, databaseId, operation))) {
      throw new RockpoolError(
        operation === 'read' || !(await this.allows(principal, databaseId, 'read'))
          ? refusalOf('read')
          : refusalOf(operation),
      );
    }
  }

  private refuse(error: unknown): false {
    this.options.log('authorize-error', errorFields(error));
    return false;
  }
}

/**
 * Who may not read is told the same for a database that is not theirs, does not exist or cannot be one: the answer
 * tells a stranger nothing.
 */
export function refusalOf(operation: Operation): ErrorCode {
  return operation === 'read' ? 'auth-database-forbidden' : 'auth-forbidden';
}
