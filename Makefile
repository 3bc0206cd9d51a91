.PHONY: demo test soak bench install

demo test soak bench install:
	@./dev $@
