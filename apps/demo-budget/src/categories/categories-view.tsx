import { useClient } from '@rockpool/client/react';
import { useState, type FormEvent, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import type { CategoryKind } from '../schema.ts';
import { useAction, useSave } from '../shell/failure.tsx';
import { NameField } from '../shell/name-field.tsx';
import { useQuery } from '../shell/use-query.ts';
import { addCategory, renameCategory, setCategoryHidden } from './actions.ts';

/** The categories of the budget: add, rename, hide. */
export function CategoriesView(): ReactNode {
  const client = useClient();
  const run = useAction();
  const save = useSave();
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const mayWrite = useMayWrite();
  const [name, setName] = useState('');
  const [kind, setKind] = useState<CategoryKind>('spending');

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() === '') return;
    save(
      () => addCategory(client, name.trim(), kind),
      'Category added.',
      () => setName(''),
    );
  };

  return (
    <>
      <h1>Categories</h1>
      {mayWrite && (
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
      )}
      {(['spending', 'income'] as const).map((group) => (
        <section key={group}>
          <h2>{group === 'spending' ? 'Spending' : 'Income'}</h2>
          <ul className="category-list card">
            {categories
              .filter((category) => category.kind === group)
              .map((category) => (
                <li key={category.id} className={category.hidden === 1 ? 'hidden-category' : ''}>
                  <NameField
                    key={category.name}
                    name={category.name}
                    onRename={(name) => run(() => renameCategory(client, category.id, name), 'Category renamed.')}
                  />
                  {mayWrite && (
                    <button
                      type="button"
                      className="quiet"
                      onClick={() =>
                        run(
                          () => setCategoryHidden(client, category.id, category.hidden === 0),
                          `${category.name} is ${category.hidden === 1 ? 'shown' : 'hidden'}.`,
                        )
                      }
                      aria-label={`${category.hidden === 1 ? 'Show' : 'Hide'} ${category.name}`}
                    >
                      {category.hidden === 1 ? 'Show' : 'Hide'}
                    </button>
                  )}
                </li>
              ))}
          </ul>
        </section>
      ))}
    </>
  );
}
