import { createContext, type ReactNode, useContext, useState } from 'react';
import type { ApiError } from '../kernel/errors.ts';
import { faultAt } from '../kernel/errors.ts';
import type { Draft, DraftObject } from './draft.ts';

interface FormState {
  /** The whole config, for members that name a part of it. */
  readonly root: Draft;
  /** What the service refused, or the form itself; its `param` names the field. */
  readonly error: ApiError | null;
  /** What a type's own form makes of an object of which this member was typed. */
  readonly after: (name: string, object: DraftObject) => DraftObject;
  /** What a type's own form has below a member, where it knows more than the schema says. */
  readonly below: (name: string, object: DraftObject, onChange: (object: DraftObject) => void) => ReactNode;
}

const FormContext = createContext<FormState | null>(null);
export const FormProvider = FormContext.Provider;

export const useForm = (): FormState => {
  const form = useContext(FormContext);
  if (form === null) throw new Error('a field outside of a form');
  return form;
};

/** What is said of exactly this field; null where nothing is. */
export const useFault = (param: string): string | null => faultAt(useForm().error, param);

/** Whether a refusal is about this place, or something in it. */
export const isWithin = (param: string, place: string): boolean =>
  param === place || param.startsWith(`${place}.`) || param.startsWith(`${place}[`);

/** Open as people leave it; opened where a new refusal is about something in it. */
export const useDisclosure = (places: readonly string[], isOpenAtFirst = false) => {
  const { error } = useForm();
  const isAtFault = places.some((place) => isWithin(error?.param ?? '', place));
  const [isOpen, setOpen] = useState(isOpenAtFirst || isAtFault);
  const [seen, setSeen] = useState(error);
  if (seen !== error) {
    setSeen(error);
    if (isAtFault) setOpen(true);
  }
  return { isOpen, isAtFault, setOpen };
};
