import type { Validate } from './validate.ts';
import type { Quotas } from './quotas.ts';
import type { Retention } from '../log/retention.ts';
import type { ForeignKeyChecks } from '../merge/foreign-keys.ts';

/** The rules for every push into one database. */
export interface AdmissionRules {
  readonly checks: ForeignKeyChecks;
  readonly retention: Retention;
  readonly quotas: Quotas;
  /** The app's own rule; null for none. */
  readonly validate: Validate | null;
}
