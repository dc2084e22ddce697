import { useClient } from '@rockpool/client/react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { categoriesByName, type CategoryRow } from '../queries.ts';
import type { CategoryKind } from '../schema.ts';
import { useAction } from '../shell/failure.tsx';
import { useQuery } from '../shell/use-query.ts';
import { addCategory, renameCategory, setCategoryHidden } from './actions.ts';

/** The categories of the budget: add, rename, hide. */
export function CategoriesView(): ReactNode {
  const client = useClient();
  const run = useAction();
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const [name, setName] = useState('');
  const [kind, setKind] = useState<CategoryKind>('spending');

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() === '') return;
    run(() => addCategory(client, name.trim(), kind));
    setName('');
  };

  return (
    <>
      <h1>Categories</h1>
      <form className="card form" onSubmit={submit} aria-label="New category">
        <div className="fields">
          <label className="wide">
            New category
            <input value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" />
          </label>
          <label>
            For
            <select value={kind} onChange={(event) => setKind(event.target.value as CategoryKind)}>
              <option value="spending">Spending</option>
              <option value="income">Income</option>
            </select>
          </label>
        </div>
        <div className="buttons">
          <button type="submit" className="primary">
            Add category
          </button>
        </div>
      </form>
      {(['spending', 'income'] as const).map((group) => (
        <section key={group}>
          <h2>{group === 'spending' ? 'Spending' : 'Income'}</h2>
          <ul className="category-list card">
            {categories
              .filter((category) => category.kind === group)
              .map((category) => (
                <li key={category.id} className={category.hidden === 1 ? 'hidden-category' : ''}>
                  <CategoryName key={category.name} category={category} onRename={(newName) => run(() => renameCategory(client, category.id, newName))} />
                  <button type="button" className="quiet" onClick={() => run(() => setCategoryHidden(client, category.id, category.hidden === 0))} aria-label={`${category.hidden === 1 ? 'Show' : 'Hide'} ${category.name}`}>
                    {category.hidden === 1 ? 'Show' : 'Hide'}
                  </button>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </>
  );
}

/** A name that is its own field: leaving it, or Enter, saves. */
function CategoryName({ category, onRename }: { readonly category: CategoryRow; readonly onRename: (name: string) => void }): ReactNode {
  const [name, setName] = useState(category.name);
  const save = (): void => {
    const trimmed = name.trim();
    if (trimmed === '') setName(category.name);
    else if (trimmed !== category.name) onRename(trimmed);
  };
  return (
    <input
      className="plain"
      aria-label={`Name of ${category.name}`}
      value={name}
      onChange={(event) => setName(event.target.value)}
      onBlur={save}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur();
        if (event.key === 'Escape') setName(category.name);
      }}
    />
  );
}
