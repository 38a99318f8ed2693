; Queens, Takeuchi's function, a symbolic derivative: what Lisp benchmarks are made of.
(define (safe? row dist placed)
  (if (empty? placed) true
      (if (or (= row (first placed)) (= row (+ (first placed) dist)) (= row (- (first placed) dist)))
          nil
          (safe? row (+ dist 1) (rest placed)))))
(define (queens n k placed)
  (if (= k 0) 1
      (let (found 0)
        (for (row 1 n)
          (if (safe? row 1 placed) (inc found (queens n (- k 1) (cons row placed)))))
        found)))
(define (tak x y z)
  (if (not (< y x)) z
      (tak (tak (- x 1) y z) (tak (- y 1) z x) (tak (- z 1) x y))))
(define (derive e)
  (cond ((number? e) 0)
        ((symbol? e) (if (= e 'x) 1 0))
        ((= (first e) '+) (list '+ (derive (e 1)) (derive (e 2))))
        ((= (first e) '*) (list '+ (list '* (e 1) (derive (e 2))) (list '* (derive (e 1)) (e 2))))))
(println (queens 8 8 '()))
(println (tak 18 12 6))
(for (i 1 20000) (derive '(+ (* x (* x 3)) (+ (* 5 x) (* (+ x 1) (+ x 2))))))
(println (derive '(* x (+ x 3))))
(exit)
