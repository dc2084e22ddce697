import { co, z } from 'jazz-tools';

export interface JazzCredentials {
  readonly accountId: string;
  readonly secret: string;
  readonly rowsId: string;
  readonly groupId: string;
}

const LedgerEntry = co.map({
  id: z.string(),
  account: z.string(),
  payee: z.string(),
  amountMinor: z.number(),
  day: z.string(),
  notes: z.string(),
});
export const LedgerRows = co.record(z.string(), LedgerEntry);
