import { queryProblem } from '../http/query-string.js';
import { declarePage, type ListQuery, QueryInteger } from '../http/query-shape.js';
import { FILTER_FORMS, type FilterForm } from './filter-forms.js';
import { FilterText } from './filter-text.decorator.js';
import { commaList } from './filter-values.js';
import { LIST_FILTERS } from './list-filters.js';

/** A list that has filters, by the id of its operation in the OpenAPI document. */
export type ListName = keyof typeof LIST_FILTERS;

type FormsOf<List extends ListName> = (typeof LIST_FILTERS)[List];

type ValueOf<Form> = Form extends { readonly listOf: readonly (infer Value)[] }
  ? readonly Value[]
  : Form extends { readonly oneOf: readonly (infer Value)[] }
    ? Value
    : Form extends { readonly is: infer Name extends keyof typeof FILTER_FORMS }
      ? ReturnType<(typeof FILTER_FORMS)[Name]>
      : number;

type Unsent<Form> = Form extends { readonly default: string } ? never : null;

/**
 * What a list is asked for, by the names of its query parameters; null where it is not. A row must match all of it. Both
 * names and values are those of the OpenAPI document: a filter that is described there is here, too.
 */
export type FiltersOf<List extends ListName> = {
  readonly [Name in keyof FormsOf<List>]: ValueOf<FormsOf<List>[Name]> | Unsent<FormsOf<List>[Name]>;
};

/** The same as it was sent; integers were read by the edge. */
export type SentFilters<List extends ListName> = {
  -readonly [Name in keyof FormsOf<List>]?: FormsOf<List>[Name] extends { readonly from: number } ? number : string;
};

/** The shape of a list's query: its page and its filters. `filtersIn` judges their values. */
export const filteredQuery = <List extends ListName>(list: List): new () => ListQuery & SentFilters<List> => {
  class FilteredQuery {}
  for (const [name, form] of Object.entries<FilterForm>(LIST_FILTERS[list])) {
    const rule = 'from' in form ? QueryInteger(form.from, form.to) : FilterText();
    rule(FilteredQuery.prototype, name);
  }
  // Last, so that an error which lists what the endpoint takes begins with the filters.
  declarePage(FilteredQuery.prototype);
  return FilteredQuery as new () => ListQuery & SentFilters<List>;
};

/** @throws {DomainError} validation_failed naming the first wrong parameter, in the order of the OpenAPI document */
export const filtersIn = <List extends ListName>(list: List, sent: SentFilters<List>): FiltersOf<List> => {
  const values = sent as Readonly<Record<string, string | number | undefined>>;
  const forms = Object.entries<FilterForm>(LIST_FILTERS[list]);
  return Object.fromEntries(forms.map(([name, form]) => [name, valueOf(name, form, values[name])])) as FiltersOf<List>;
};

const valueOf = (name: string, form: FilterForm, sent: string | number | undefined): unknown => {
  const given = sent ?? ('default' in form ? form.default : undefined);
  if (given === undefined) return null;
  if ('from' in form) return given;
  const text = String(given);
  if ('listOf' in form) return commaList(name, text, form.listOf);
  return 'oneOf' in form ? oneOf(name, text, form.oneOf) : FILTER_FORMS[form.is](name, text);
};

const oneOf = (name: string, text: string, known: readonly string[]): string => {
  if (known.includes(text)) return text;
  throw queryProblem(name, `must be ${known.length === 2 ? known.join(' or ') : `one of ${known.join(', ')}`}`);
};
