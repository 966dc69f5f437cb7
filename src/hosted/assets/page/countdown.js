function leftText(seconds) {
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (h > 0) return m > 0 ? `${h} h ${m} min left` : `${h} h left`;
  return m > 0 ? `${m} min ${String(s).padStart(2, '0')} s left` : `${s} s left`;
}

/** Shows a countdown that screen readers do not announce; 30 seconds before its end it announces a warning. */
function count(element) {
  const end = performance.now() + Number(element.dataset.left) * 1000;
  const ring = element.closest('.time')?.querySelector('[data-ring]');
  let warned = false;
  const tick = () => {
    const left = Math.max(0, Math.round((end - performance.now()) / 1000));
    element.textContent = `(${leftText(left)})`;
    ring?.setAttribute('stroke-dasharray', `${(100 * left) / Number(ring.dataset.ring)} 100`);
    if (element.dataset.warn && left <= 30 && left > 0 && !warned) {
      warned = true;
      say(element.dataset.warn);
    }
    // At the end of the countdown, the server reports the state.
    if (left === 0) void pollState();
  };
  tick();
  timers.push(setInterval(tick, 1000));
}

/** Goes back to the payee's site after a countdown, unless the payer chooses to stay or uses the receipt. */
function goBack(element) {
  const link = main().querySelector('[data-leave]');
  let left = Number(element.dataset.return);
  const text = document.createElement('span');
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet small';
  button.textContent = 'Stay on this page';
  element.replaceChildren(text, ' ', button);
  const tick = () => {
    text.textContent = `You will be taken back in ${left} ${left === 1 ? 'second' : 'seconds'}.`;
    if (left-- > 0) return;
    clearInterval(timer);
    location.assign(link.href);
  };
  const timer = setInterval(tick, 1000);
  tick();
  timers.push(timer);
  stay = () => {
    clearInterval(timer);
    element.remove();
    say('');
  };
  button.addEventListener('click', () => {
    stay();
    link.focus();
  });
  for (const fold of main().querySelectorAll('details')) fold.addEventListener('toggle', stay, { once: true });
}

/** Copies a text, and says so on its button for a moment. */
async function copy(button) {
  stay?.();
  const [, label] = button.children;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    label.textContent = 'Copied';
  } catch {
    label.textContent = 'Not copied';
  }
  say(label.textContent);
  timers.push(setTimeout(() => (label.textContent = 'Copy'), 2000));
}
