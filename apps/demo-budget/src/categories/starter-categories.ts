import type { CategoryKind } from '../schema.ts';
import type { Writer } from '../writer.ts';

const starterCategories: readonly { readonly id: string; readonly name: string; readonly kind: CategoryKind }[] = [
  { id: 'starter-home', name: 'Home', kind: 'spending' },
  { id: 'starter-groceries', name: 'Groceries', kind: 'spending' },
  { id: 'starter-eating-out', name: 'Eating out', kind: 'spending' },
  { id: 'starter-transport', name: 'Transport', kind: 'spending' },
  { id: 'starter-bills', name: 'Bills and insurance', kind: 'spending' },
  { id: 'starter-health', name: 'Health', kind: 'spending' },
  { id: 'starter-leisure', name: 'Leisure', kind: 'spending' },
  { id: 'starter-children', name: 'Children', kind: 'spending' },
  { id: 'starter-clothes', name: 'Clothes', kind: 'spending' },
  { id: 'starter-income', name: 'Income', kind: 'income' },
];

/**
 * Writes the starter categories into a budget that was created on this device. Their ids are fixed, so that writing
 * them twice (after a tab died halfway, or from two tabs at once) changes nothing.
 */
export async function addStarterCategories(writer: Writer): Promise<void> {
  await writer.batch(
    starterCategories.map(({ id, name, kind }) => ({
      sql: 'INSERT INTO categories (id, name, kind) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING',
      params: [id, name, kind],
    })),
  );
}
