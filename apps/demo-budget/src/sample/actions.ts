import { addStarterCategories } from '../categories/starter-categories.ts';
import { suggestedCurrency } from '../money/currency.ts';
import { locale, today } from '../shell/locale.ts';
import type { Writer } from '../writer.ts';
import { sampleRows } from './sample-rows.ts';

/** Statements per transaction, limited as for an import, so that other writes do not wait for long. */
const statementsPerTransaction = 500;

/** Fills an empty budget with the sample. */
export async function fillSample(writer: Writer): Promise<void> {
  await addStarterCategories(writer);
  const currency = suggestedCurrency(locale);
  const rows = sampleRows({ today: today(), currency, otherCurrency: currency === 'GBP' ? 'EUR' : 'GBP' });
  for (let from = 0; from < rows.length; from += statementsPerTransaction)
    await writer.batch(rows.slice(from, from + statementsPerTransaction));
}
