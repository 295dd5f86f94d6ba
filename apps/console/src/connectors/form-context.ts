import { createContext, type ReactNode, useContext, useState } from 'react';
import type { ApiError } from '../kernel/errors.ts';
import { faultAt } from '../kernel/errors.ts';
import type { Draft, DraftObject } from './draft.ts';

interface FormState {
  /** The whole config, for members whose choices come from another part of it. */
  readonly root: Draft;
  /** The error of the service or of the form; its `param` names the field. */
  readonly error: ApiError | null;
  /** The type's own reaction to a typed member: returns the object with other members adapted. */
  readonly after: (name: string, object: DraftObject) => DraftObject;
  /** The type's own content below a member, if the type knows more than the schema states. */
  readonly below: (name: string, object: DraftObject, onChange: (object: DraftObject) => void) => ReactNode;
}

const FormContext = createContext<FormState | null>(null);
export const FormProvider = FormContext.Provider;

export const useForm = (): FormState => {
  const form = useContext(FormContext);
  if (form === null) throw new Error('a field outside of a form');
  return form;
};

/** The error about exactly this field; null if there is none. */
export const useFault = (param: string): string | null => faultAt(useForm().error, param);

/** Whether an error is about this place, or about something inside it. */
export const isWithin = (param: string, place: string): boolean =>
  param === place || param.startsWith(`${place}.`) || param.startsWith(`${place}[`);

/** The open state of a disclosure. The person opens and closes it; a new error about something inside opens it. */
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
