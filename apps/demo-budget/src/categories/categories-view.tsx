import { useClient } from '@rockpool/client/react';
import { useRef, useState, type DragEvent, type FormEvent, type ReactNode } from 'react';
import { useMayWrite } from '../budget/role.ts';
import { categoriesByName, type CategoryRow } from '../queries/categories.ts';
import type { CategoryKind } from '../schema.ts';
import { closeForm } from '../shell/close-form.ts';
import { useAction, useSave } from '../shell/failure.tsx';
import { keyOf } from '../shell/keys.ts';
import { NameField } from '../shell/name-field.tsx';
import { useQuery } from '../shell/use-query.ts';
import { knownName } from '../words/name-key.ts';
import {
  addCategory,
  placeCategory,
  renameCategory,
  renameGroup,
  requireFreeName,
  setCategoryHidden,
} from './actions.ts';
import { DeleteCategoryForm } from './delete-category-form.tsx';
import { keyedGroups, type KeyedGroup } from './group-keys.ts';

/** The categories of the budget, by group. Users can add, rename, order (by drag or buttons), hide and delete them. */
export function CategoriesView(): ReactNode {
  const { rows: categories } = useQuery<CategoryRow>(categoriesByName);
  const mayWrite = useMayWrite();
  return (
    <>
      <h1>Categories</h1>
      {mayWrite && <NewCategory groups={groupNames(categories)} />}
      {(['spending', 'income'] as const).map((kind) => (
        <section key={kind}>
          <h2>{kind === 'spending' ? 'Spending' : 'Income'}</h2>
          <GroupedCategories categories={categories} kind={kind} />
        </section>
      ))}
    </>
  );
}

function groupNames(categories: readonly CategoryRow[]): string[] {
  return [...new Set(categories.map(({ groupName }) => groupName))].filter((name) => name !== '');
}

function NewCategory({ groups }: { readonly groups: readonly string[] }): ReactNode {
  const client = useClient();
  const save = useSave();
  const [name, setName] = useState('');
  const [group, setGroup] = useState('');
  const [kind, setKind] = useState<CategoryKind>('spending');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (name.trim() === '') return;
    save(
      async () => {
        await requireFreeName(client, name);
        return await addCategory(client, name.trim(), kind, knownName(groups, group));
      },
      'Category added.',
      () => setName(''),
    );
  };
  return (
    <form className="card form" onSubmit={submit} aria-label="New category">
      <div className="fields">
        <label className="wide">
          New category
          <input value={name} onChange={(event) => setName(event.target.value)} autoComplete="off" />
        </label>
        <label>
          Group
          <input
            value={group}
            list="category-groups"
            placeholder="None"
            onChange={(event) => setGroup(event.target.value)}
            autoComplete="off"
          />
          <datalist id="category-groups">
            {groups.map((known) => (
              <option key={known} value={known} />
            ))}
          </datalist>
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
  );
}

interface GroupedCategoriesProps {
  readonly categories: readonly CategoryRow[];
  readonly kind: CategoryKind;
}

function GroupedCategories({ categories, kind }: GroupedCategoriesProps): ReactNode {
  const client = useClient();
  const run = useAction();
  const mayWrite = useMayWrite();
  const [dragged, setDragged] = useState<string | null>(null);
  const [deleting, setDeleting] = useState<string | null>(null);
  const own = categories.filter((category) => category.kind === kind);
  const drawn = useRef<readonly KeyedGroup<CategoryRow>[]>([]);
  drawn.current = keyedGroups(
    Map.groupBy(own, ({ groupName }) => groupName),
    drawn.current,
  );
  /** A renamed group joins one that has the same name in a different case. */
  const groupNamed = (name: string, before: string): string =>
    knownName(
      groupNames(categories).filter((known) => known !== before),
      name,
    );
  const place = (id: string, groupName: string, beforeId: string | null): void => {
    const name = own.find((category) => category.id === id)?.name ?? '';
    if (id !== beforeId) run(() => placeCategory(client, own, id, { groupName, beforeId }), `${name} moved.`);
  };
  const drop = (event: DragEvent, groupName: string, beforeId: string | null): void => {
    event.preventDefault();
    event.stopPropagation();
    if (dragged !== null) place(dragged, groupName, beforeId);
    setDragged(null);
  };
  const allow = (event: DragEvent): void => {
    if (dragged !== null) event.preventDefault();
  };
  return drawn.current.map(({ key, name: groupName, members }) => (
    <div key={key} className="category-group" onDragOver={allow} onDrop={(event) => drop(event, groupName, null)}>
      {groupName !== '' && (
        <NameField
          name={groupName}
          onRename={(name) => run(() => renameGroup(client, groupName, groupNamed(name, groupName)), 'Group renamed.')}
        />
      )}
      <ul className="category-list card" aria-label={groupName === '' ? 'No group' : groupName}>
        {members.map((category, index) => (
          <li
            key={category.id}
            className={`${category.hidden === 1 ? 'hidden-category' : ''} ${dragged === category.id ? 'dragged' : ''}`}
            onDragOver={allow}
            onDrop={(event) => drop(event, groupName, category.id)}
          >
            {mayWrite && (
              <span
                className="drag-handle"
                draggable
                onDragStart={(event) => {
                  event.dataTransfer.effectAllowed = 'move';
                  event.dataTransfer.setData('text/plain', category.name);
                  setDragged(category.id);
                }}
                onDragEnd={() => setDragged(null)}
                aria-hidden="true"
                title="Drag to move"
              >
                ⠿
              </span>
            )}
            <NameField
              name={category.name}
              onRename={(name) => run(() => renameCategory(client, category.id, name), 'Category renamed.')}
            />
            {mayWrite && (
              <div className="category-actions">
                <button
                  type="button"
                  className="quiet"
                  disabled={index === 0}
                  aria-label={`Move ${category.name} up`}
                  onClick={() => place(category.id, groupName, members[index - 1]?.id ?? null)}
                >
                  ↑
                </button>
                <button
                  type="button"
                  className="quiet"
                  disabled={index === members.length - 1}
                  aria-label={`Move ${category.name} down`}
                  onClick={() => place(category.id, groupName, members[index + 2]?.id ?? null)}
                >
                  ↓
                </button>
                <GroupField
                  category={category}
                  groups={groupNames(own)}
                  onGroup={(next) => place(category.id, next, null)}
                />
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
                <button
                  type="button"
                  id={`delete-${category.id}`}
                  className="quiet danger"
                  onClick={() => setDeleting(category.id)}
                  aria-label={`Delete ${category.name} …`}
                >
                  Delete …
                </button>
              </div>
            )}
            {deleting === category.id && (
              <DeleteCategoryForm
                category={category}
                categories={own}
                onDone={() => closeForm(() => setDeleting(null), `delete-${category.id}`)}
              />
            )}
          </li>
        ))}
      </ul>
    </div>
  ));
}

interface GroupFieldProps {
  readonly category: CategoryRow;
  readonly groups: readonly string[];
  readonly onGroup: (groupName: string) => void;
}

/** The group of a category; "New group …" asks for a name. */
function GroupField({ category, groups, onGroup }: GroupFieldProps): ReactNode {
  const [naming, setNaming] = useState(false);
  if (naming)
    return (
      <input
        autoFocus
        aria-label={`New group for ${category.name}`}
        placeholder="Name of the group"
        onBlur={(event) => {
          setNaming(false);
          if (event.target.value.trim() !== '') onGroup(knownName(groups, event.target.value));
        }}
        onKeyDown={(event) => {
          if (keyOf(event) === 'Enter') event.currentTarget.blur();
          if (keyOf(event) === 'Escape') setNaming(false);
        }}
      />
    );
  return (
    <select
      aria-label={`Group of ${category.name}`}
      value={category.groupName === '' ? '' : `group ${category.groupName}`}
      onChange={({ target: { value } }) => (value === 'new' ? setNaming(true) : onGroup(value.replace(/^group /, '')))}
    >
      <option value="">No group</option>
      {groups.map((name) => (
        <option key={name} value={`group ${name}`}>
          {name}
        </option>
      ))}
      <option value="new">New group …</option>
    </select>
  );
}
