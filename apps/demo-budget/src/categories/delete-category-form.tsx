import { useClient } from '@rockpool/client/react';
import { useState, type FormEvent, type ReactNode } from 'react';
import type { CategoryRow } from '../queries/categories.ts';
import { useSave } from '../shell/failure.tsx';
import { keyOf } from '../shell/keys.ts';
import { locale } from '../shell/locale.ts';
import { useQuery } from '../shell/use-query.ts';
import { deleteCategory } from './actions.ts';

export interface DeleteCategoryFormProps {
  readonly category: CategoryRow;
  /** The categories of the same kind. */
  readonly categories: readonly CategoryRow[];
  readonly onDone: () => void;
}

/** Asks where to move the entries and the assigned money of a category. */
export function DeleteCategoryForm({ category, categories, onDone }: DeleteCategoryFormProps): ReactNode {
  const client = useClient();
  const save = useSave();
  const [toId, setToId] = useState('');
  const others = categories.filter(({ id }) => id !== category.id);
  // Another device may have deleted the chosen category; the field then shows that none is chosen.
  const to = others.find(({ id }) => id === toId);
  const { rows } = useQuery<{ readonly count: number }>(
    'SELECT (SELECT count(*) FROM entries WHERE categoryId = ?) + (SELECT count(*) FROM parts WHERE categoryId = ?) AS count',
    [category.id, category.id],
  );
  const count = rows[0]?.count ?? 0;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    save(() => deleteCategory(client, category.id, to?.id ?? null), `${category.name} was deleted.`, onDone);
  };
  return (
    <form
      className="form delete-category"
      onSubmit={submit}
      onKeyDown={(event) => {
        if (keyOf(event) === 'Escape') onDone();
      }}
      aria-label={`Delete ${category.name}`}
    >
      <label>
        {count === 0
          ? 'No entries have this category. Move assigned money to'
          : `Move ${count === 1 ? '1 entry' : `${count.toLocaleString(locale)} entries`} and assigned money to`}
        <select value={to?.id ?? ''} autoFocus onChange={(event) => setToId(event.target.value)}>
          <option value="">No category</option>
          {others.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <div className="buttons">
        <button type="submit" className="danger">
          Delete {category.name}
        </button>
        <button type="button" className="quiet" onClick={onDone}>
          Cancel
        </button>
      </div>
    </form>
  );
}
