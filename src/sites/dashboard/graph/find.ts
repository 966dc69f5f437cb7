import { useEffect, useState } from 'react';

/** How long nothing is typed before the gateway is asked. */
const pauseMilliseconds = 250;

/** A text that is being typed, as it is when the viewer pauses: not each letter asks the gateway. */
export function useDebounced(text: string): string {
  const [debounced, setDebounced] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text.trim()), pauseMilliseconds);
    return () => clearTimeout(timer);
  }, [text]);
  return debounced;
}
