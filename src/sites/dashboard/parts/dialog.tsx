import { X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';

/** A dialog above the page. The browser keeps the focus inside, and closes it with Escape. */
export function Dialog({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    if (dialog.current?.open) return;
    dialog.current?.showModal();
    // What is asked first comes before the button that closes.
    dialog.current?.querySelector<HTMLElement>('input, select, textarea')?.focus();
  }, []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{title}</h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={() => dialog.current?.close()}>
          <X aria-hidden />
        </button>
      </header>
      {children}
    </dialog>
  );
}

interface DialogButtonProps {
  /** The title of the dialog, and what the button says unless `label` says it. */
  title: string;
  label?: ReactNode;
  className?: string;
  /** Whether it is open at first. */
  opened?: boolean;
  /** What is in the dialog, which can close it. */
  children: (close: () => void) => ReactNode;
}

/** A button that opens a dialog. */
export function DialogButton({
  title,
  label = title,
  className = 'button',
  opened = false,
  children,
}: DialogButtonProps) {
  const [open, setOpen] = useState(opened);
  const close = () => setOpen(false);
  return (
    <>
      <button type="button" className={className} onClick={() => setOpen(true)}>
        {label}
      </button>
      {open && (
        <Dialog title={title} onClose={close}>
          {children(close)}
        </Dialog>
      )}
    </>
  );
}
